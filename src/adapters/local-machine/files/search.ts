import { hasCode } from '../../../support/errors.js';
import { openFile, readAll } from './content.js';
import { globExpression } from './glob.js';
import type { LocalFiles } from './local-files.js';
import { PathError } from './path-error.js';
import type { FoundEntry } from './tree.js';

/** The entries that were found, and whether there may be more. */
interface SearchResult<T> {
  readonly found: readonly T[];
  /** Whether the search ended at the limit. */
  readonly cut: boolean;
}

/** A line in which a text was found. */
interface MatchingLine {
  /** The path, relative to the directory that was searched. */
  readonly path: string;
  /** The number of the line, from 1. */
  readonly line: number;
  readonly text: string;
}

/** Finds entries below a directory that match a pattern: see {@link globExpression}. */
export async function findPaths(
  files: LocalFiles,
  directory: string,
  pattern: string,
  limit: number,
): Promise<SearchResult<FoundEntry>> {
  const expression = globExpression(pattern);
  const found: FoundEntry[] = [];
  await files.walk(directory, (entry) => {
    if (expression.test(entry.path)) found.push(entry);
    return found.length <= limit;
  });
  return { found: found.slice(0, limit), cut: found.length > limit };
}

/** The size above which a file is not searched. */
const MOST_BYTES = 10 * 1024 * 1024;
/** The number of bytes in which a NUL tells that a file is no text. */
const LOOKED_AT_BYTES = 8192;

/**
 * Finds lines with a text in a file, whose path is empty then, or in the files below a directory; a
 * pattern without a slash is matched against names alone. Files that can't be read, that are no text,
 * or of more than 10 MiB are left out.
 */
export async function findLines(
  files: LocalFiles,
  path: string,
  text: string,
  { pattern, limit }: { readonly pattern?: string | undefined; readonly limit: number },
): Promise<SearchResult<MatchingLine>> {
  const found: MatchingLine[] = [];
  const look = (at: string, content: Buffer): boolean => {
    for (const line of linesWith(content, text)) found.push({ path: at, ...line });
    return found.length <= limit;
  };
  if ((await files.status(path))?.type === 'file') {
    look('', await files.read(path, { maxBytes: MOST_BYTES }));
  } else {
    const isWanted = filterOf(pattern);
    await files.walk(path, async (entry) => {
      if (entry.type !== 'file' || !isWanted(entry)) return true;
      return look(entry.path, await contentOf(entry));
    });
  }
  return { found: found.slice(0, limit), cut: found.length > limit };
}

function filterOf(pattern: string | undefined): (entry: FoundEntry) => boolean {
  if (pattern === undefined) return () => true;
  const expression = globExpression(pattern);
  return ({ name, path }) => expression.test(pattern.includes('/') ? path : name);
}

async function contentOf({ at, path }: FoundEntry): Promise<Buffer> {
  try {
    const handle = await openFile(at, path, 'read');
    try {
      return await readAll(handle, path, { maxBytes: MOST_BYTES });
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof PathError || hasCode(error, 'EACCES') || hasCode(error, 'ENOENT')) {
      return Buffer.alloc(0);
    }
    throw error;
  }
}

/** Returns the lines of a file that contain a text. */
function linesWith(content: Buffer, text: string): Pick<MatchingLine, 'line' | 'text'>[] {
  if (!content.includes(text) || content.subarray(0, LOOKED_AT_BYTES).includes(0)) return [];
  return content
    .toString('utf8')
    .split('\n')
    .map((line, index) => ({ line: index + 1, text: line.replace(/\r$/, '') }))
    .filter((line) => line.text.includes(text));
}
