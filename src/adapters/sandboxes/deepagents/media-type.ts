import { extname } from 'node:path';

/** Of files that models are shown as what they are. */
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

/** The media type of what is no text, by its name; undefined: it is looked at. */
export function shownMediaType(path: string): string | undefined {
  return SHOWN[extname(path).toLowerCase()];
}

/** A file as it is given to a model: text where it is valid UTF-8 without NUL, and else its bytes. */
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
    // No text.
  }
  return { content: bytes, mimeType: 'application/octet-stream' };
}
