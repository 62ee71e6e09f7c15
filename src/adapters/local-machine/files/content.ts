import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { throwIfAborted } from '../../../support/abort.js';
import { PathError } from './path-error.js';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;

/** The purpose for which a file is opened. */
type Purpose = 'read' | 'write' | 'create' | 'change';

// Without O_NONBLOCK, opening a named pipe would block a thread until its other end is opened.
const FLAGS: Readonly<Record<Purpose, number>> = {
  read: O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
  write: O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK,
  create: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NONBLOCK,
  change: O_RDWR | O_NOFOLLOW | O_NONBLOCK,
};

/**
 * Opens a regular file.
 *
 * @param mode Permissions of a file that is made, before the umask.
 * @throws {PathError} The path is no regular file.
 * @throws The system's errors.
 */
export async function openFile(
  at: string,
  path: string,
  purpose: Purpose,
  mode = 0o666,
): Promise<FileHandle> {
  const handle = await open(at, FLAGS[purpose], mode);
  const status = await handle.stat();
  if (status.isFile()) return handle;
  await handle.close();
  if (status.isDirectory()) throw new PathError('isDirectory', path, 'it is a directory');
  throw new PathError('notFile', path, 'not a regular file');
}

const CHUNK_BYTES = 256 * 1024;

/**
 * Reads an open file from its present position to its end.
 *
 * @throws {PathError} The file has more than `maxBytes`.
 * @throws The reason of the signal.
 */
export async function readAll(
  handle: FileHandle,
  path: string,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    if (signal) throwIfAborted(signal);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES));
    if (bytesRead === 0) return Buffer.concat(chunks, size);
    chunks.push(buffer.subarray(0, bytesRead));
    size += bytesRead;
    if (size > maxBytes) {
      throw new PathError('tooLarge', path, `more than ${maxBytes} bytes, read it as a stream`);
    }
  }
}

/** The new content of a file. */
export type Content = Uint8Array | AsyncIterable<Uint8Array>;

/**
 * Replaces the content of an open file. Until that is done, readers see a part of it.
 *
 * @throws The reason of the signal; the file keeps what was written until then.
 */
export async function replaceContent(
  handle: FileHandle,
  content: Content,
  signal?: AbortSignal,
): Promise<void> {
  await handle.truncate(0);
  let at = 0;
  for await (const chunk of content instanceof Uint8Array ? [content] : content) {
    for (let from = 0; from < chunk.length; ) {
      if (signal) throwIfAborted(signal);
      const length = Math.min(CHUNK_BYTES, chunk.length - from);
      const { bytesWritten } = await handle.write(chunk, from, length, at);
      from += bytesWritten;
      at += bytesWritten;
    }
  }
}

/**
 * Returns a file as a stream of bytes; the file is closed at the end, and when the reader leaves.
 */
export function fileStream(handle: FileHandle, signal?: AbortSignal): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          if (signal) throwIfAborted(signal);
          const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES));
          if (bytesRead > 0) {
            controller.enqueue(new Uint8Array(buffer.buffer, buffer.byteOffset, bytesRead));
            return;
          }
          await handle.close();
          controller.close();
        } catch (error) {
          await handle.close();
          throw error;
        }
      },
      cancel: () => handle.close(),
    },
    { highWaterMark: 0 },
  );
}
