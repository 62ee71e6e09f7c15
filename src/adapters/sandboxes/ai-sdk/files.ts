import { InputError, showValue } from '../../../support/errors.js';
import type { LocalFiles } from '../../local-machine/files/local-files.js';
import { isMissingPath } from '../../local-machine/files/path-error.js';
import type { SandboxReadText, SandboxSession } from './session.js';

type FileMethods = Pick<
  SandboxSession,
  | 'readFile'
  | 'readBinaryFile'
  | 'readTextFile'
  | 'writeFile'
  | 'writeBinaryFile'
  | 'writeTextFile'
  | 'stat'
  | 'listDirectory'
  | 'deleteFile'
>;

/** Returns the files of a machine in the form of the AI SDK. */
export function sessionFiles(files: LocalFiles): FileMethods {
  const read = (path: string, signal: AbortSignal | undefined) =>
    orNull(files.read(path, { signal }));
  return {
    readFile: ({ path, abortSignal: signal }) => orNull(files.readStream(path, { signal })),
    readBinaryFile: ({ path, abortSignal }) => read(path, abortSignal),
    async readTextFile(options) {
      const bytes = await read(options.path, options.abortSignal);
      return bytes === null ? null : linesOf(decoded(bytes, options.encoding), options);
    },
    // A web stream of Node's is iterable.
    writeFile: ({ path, content, abortSignal: signal }) => files.write(path, content, { signal }),
    writeBinaryFile: ({ path, content, abortSignal: signal }) =>
      files.write(path, content, { signal }),
    writeTextFile: async ({ path, content, encoding, abortSignal: signal }) =>
      files.write(path, encoded(content, encoding), { signal }),
    async stat({ path }) {
      const status = await files.status(path);
      if (status === undefined) return null;
      const { type, size } = status;
      return { type: type === 'symlink' ? 'other' : type, size };
    },
    listDirectory: async ({ path }) => {
      const entries = await orNull(files.list(path));
      return entries?.map(({ name, type }) => ({ name, type })) ?? null;
    },
    deleteFile: ({ path }) => files.remove(path),
  };
}

async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (isMissingPath(error)) return null;
    throw error;
  }
}

function decoded(bytes: Uint8Array, encoding = 'utf-8'): string {
  try {
    return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
  } catch {
    throw unknownEncoding(encoding, 'one that TextDecoder knows');
  }
}

const WRITTEN: Readonly<Record<string, BufferEncoding>> = {
  'utf-8': 'utf8',
  utf8: 'utf8',
  'utf-16le': 'utf16le',
  latin1: 'latin1',
  'iso-8859-1': 'latin1',
  ascii: 'latin1',
};

function encoded(text: string, encoding = 'utf-8'): Uint8Array {
  const known = WRITTEN[encoding.toLowerCase()];
  if (known === undefined) throw unknownEncoding(encoding, 'utf-8, utf-16le, latin1 or ascii');
  return Buffer.from(text, known);
}

function unknownEncoding(encoding: string, expected: string): InputError {
  return new InputError(`encoding: expected ${expected}, got ${showValue(encoding)}`);
}

/** Returns lines as the AI SDK's own `extractLines` counts them. */
function linesOf(text: string, { startLine, endLine }: SandboxReadText): string {
  if (startLine === undefined && endLine === undefined) return text;
  const [ending = '\n'] = /\r\n|\n|\r/.exec(text) ?? [];
  return text
    .split(ending)
    .slice(Math.max(1, startLine ?? 1) - 1, endLine)
    .join(ending);
}
