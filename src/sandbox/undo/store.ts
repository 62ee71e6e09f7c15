import { constants } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkPrivate } from '../../support/directories/private-directory.js';
import { statePath } from '../../support/directories/state-directory.js';
import { hasCode } from '../../support/errors.js';

// Journals are written by the process beside the sandbox: a directory for each command. Here is read what lies
// in it for people; the rest is the engine's.

/** Bytes of the files that tell of a command, at most. */
const MOST_BYTES = 256 * 1024;
const MOST_LINE = 64 * 1024;

/** The id of a journal, which is also the name of its directory. */
export const JOURNAL_ID = /^[\da-f]{16}$/;

/** Facts of a command that has a journal. */
export interface JournalAbout {
  readonly id: string;
  /** When it was begun, in milliseconds since 1970. */
  readonly at: number;
  /** The first directory that its sandbox may write to; undefined: not known. */
  readonly workspace: string | undefined;
  /** What its host added at its end; undefined: the host had ended before. */
  readonly command: JournalCommand | undefined;
}

/** What a host adds to a journal. */
export interface JournalCommand {
  readonly line: string;
  readonly cwd: string;
}

/** Returns the directory with the journals of this user; undefined: the user has no home. */
export function undoDirectory(): string | undefined {
  const state = statePath();
  return state === undefined ? undefined : join(state, 'undo');
}

/**
 * Returns the ids of all journals of a directory.
 *
 * @throws {Error} The directory belongs to another user, or is open to others; or the system's error.
 */
export async function journalsIn(directory: string): Promise<readonly string[]> {
  try {
    await checkPrivate(directory);
    return (await readdir(directory)).filter((name) => JOURNAL_ID.test(name));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Reads what is told of a journal's command; undefined: there is no such journal. */
export async function aboutJournal(
  directory: string,
  id: string,
): Promise<JournalAbout | undefined> {
  if (!JOURNAL_ID.test(id)) return undefined;
  const begunAt = await beginOf(directory, id);
  if (begunAt === undefined) return undefined;
  const fields = ((await readText(join(directory, id, 'about'))) ?? '').split('\0');
  const only = (word: string): string | undefined =>
    fields.find((_, index) => index % 2 === 1 && fields[index - 1] === word);
  const command = await readText(join(directory, id, 'command'));
  return {
    id,
    at: Number(only('at')) || begunAt,
    workspace: only('workspace'),
    command: command === undefined ? undefined : parseCommand(command),
  };
}

/** Adds to a journal what only the host knows of its command, once; does nothing if that can't be written. */
export async function noteCommand(
  directory: string,
  id: string,
  { line, cwd }: JournalCommand,
): Promise<void> {
  const text = JSON.stringify({ line: line.slice(0, MOST_LINE), cwd });
  try {
    const path = join(directory, id, 'command');
    const file = await open(path, WRITTEN_ONCE, 0o600);
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
  } catch {
    // The list then has no text for it, and what it changed can be taken back all the same.
  }
}

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY } = constants;
const WRITTEN_ONCE = O_WRONLY | O_CREAT | O_EXCL;

function parseCommand(text: string): JournalCommand | undefined {
  try {
    const { line, cwd }: Partial<JournalCommand> = JSON.parse(text);
    return typeof line === 'string' && typeof cwd === 'string' ? { line, cwd } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns when the log of a journal was made, in milliseconds since 1970; undefined: there is none. */
async function beginOf(directory: string, id: string): Promise<number | undefined> {
  try {
    const { birthtimeMs, mtimeMs } = await stat(join(directory, id, 'log'));
    return Math.round(birthtimeMs > 0 ? Math.min(birthtimeMs, mtimeMs) : mtimeMs);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, O_RDONLY | O_NOFOLLOW);
    try {
      const bytes = Buffer.alloc(MOST_BYTES);
      const { bytesRead } = await file.read(bytes, 0, MOST_BYTES, 0);
      return bytes.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
