import { extname } from 'node:path';

/** Media types of files that models can be shown as they are. */
const SHOWN: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.heic': 'image/heic',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.ogg': 'audio/ogg',
  '.flac': 'audio/flac',
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
  '.mov': 'video/quicktime',
  '.pdf': 'application/pdf',
};

/**
 * Returns the media type of a file that is no text by its name; `undefined`: the content decides.
 */
export function shownMediaType(path: string): string | undefined {
  return SHOWN[extname(path).toLowerCase()];
}

/** Returns a file's content for a model: text if it is valid UTF-8 without NUL, else its bytes. */
export function typedContent(
  path: string,
  bytes: Uint8Array,
): { readonly content: string | Uint8Array; readonly mimeType: string } {
  const mimeType = shownMediaType(path);
  if (mimeType !== undefined) return { content: bytes, mimeType };
  try {
    const content = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!content.includes('\0')) return { content, mimeType: 'text/plain' };
  } catch {
    // The content is no text.
  }
  return { content: bytes, mimeType: 'application/octet-stream' };
}
