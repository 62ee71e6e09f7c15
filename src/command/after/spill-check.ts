import { lstat, stat } from 'node:fs/promises';
import type { RunResult, SpillError } from '../../engine/outcome.js';
import { ERRNO } from '../../engine/system-error.js';
import { namesOwnDescriptor } from '../../support/directories/host-files.js';
import { hasCode } from '../../support/errors.js';
import { settlesWithin } from '../../support/timing.js';

/** The longest time for which a disk that hangs delays a result. */
const CHECK_MS = 1000;

/** A run that has written a spill file from its start on. */
interface Writer {
  /** Another run of this process has written the same file meanwhile. */
  shares: boolean;
}

const writers = new Map<string, Set<Writer>>();

/** One run's use of a spill file. Two runs that write the same file at once spoil it for each other. */
export class SpillFile {
  readonly #path: string;
  readonly #writer: Writer = { shares: false };

  /** @param path The file's absolute path. */
  constructor(path: string) {
    this.#path = path;
    const others = writers.get(path) ?? new Set();
    writers.set(path, others.add(this.#writer));
    if (others.size > 1) for (const other of others) other.shares = true;
  }

  /** Notes that the run has ended. Returns whether no other run has written the file meanwhile. */
  close(): boolean {
    const all = writers.get(this.#path);
    all?.delete(this.#writer);
    if (all?.size === 0) writers.delete(this.#path);
    return !this.#writer.shares;
  }
}

/**
 * Adds an error to the result if the spill file does not have what was written: the engine knows only
 * that each write succeeded.
 *
 * @param isOwn Whether no other run has written the file.
 */
export async function withSpillChecked(result: RunResult, isOwn: boolean): Promise<RunResult> {
  const { spill } = result;
  if (spill === undefined || spill.error !== undefined) return result;
  const check = faultOf(spill.path, spill.bytes, isOwn);
  const fault = (await settlesWithin(check, CHECK_MS)) ? await check : undefined;
  return fault === undefined ? result : { ...result, spill: { ...spill, error: fault } };
}

async function faultOf(
  path: string,
  bytes: number,
  isOwn: boolean,
): Promise<SpillError | undefined> {
  try {
    const named = await lstat(path);
    const isLink = named.isSymbolicLink();
    if (isLink && !namesOwnDescriptor(path)) return fault('EIO', 'a link has replaced the file');
    const found = isLink ? await stat(path) : named;
    // Devices and pipes store nothing that could be compared.
    if (!found.isFile()) return undefined;
    if (!isOwn) return fault('EBUSY', 'another command wrote the same file meanwhile');
    if (found.size === bytes) return undefined;
    return fault('EIO', `the file was changed meanwhile: it has ${found.size} bytes`);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return fault('ENOENT', 'the file was removed meanwhile');
    // The file may be fine: a host that may not look at it can't tell.
    return undefined;
  }
}

function fault(code: 'EBUSY' | 'EIO' | 'ENOENT', message: string): SpillError {
  return { code, errno: ERRNO[code], message };
}
