import { extname } from 'node:path';
import type { ToolOutputImage } from '@openai/agents';
import { InputError } from '../../../support/errors.js';

/** The first bytes of each kind of image. */
const BEGINNINGS: readonly (readonly [mediaType: string, bytes: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF.{4}WEBP/s],
  ['image/bmp', /^BM/],
  ['image/tiff', /^(?:II\*.|MM.\*)/s],
];

/**
 * Returns an image by its first bytes.
 *
 * @throws {InputError} The file is no image that models can be shown.
 */
export function imageOf(path: string, bytes: Uint8Array): ToolOutputImage {
  const start = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  const [found] = BEGINNINGS.find(([, beginning]) => beginning.test(start)) ?? [];
  const mediaType = found ?? (extname(path).toLowerCase() === '.svg' ? 'image/svg+xml' : undefined);
  if (mediaType === undefined) {
    throw new InputError(`path: expected an image (PNG, JPEG, GIF, WebP, BMP, TIFF, SVG): ${path}`);
  }
  return { type: 'image', image: { data: Uint8Array.from(bytes), mediaType } };
}
