import { lstat, stat } from 'node:fs/promises';
import type { RunResult, SpillError } from '../../engine/outcome.js';
import { ERRNO } from '../../engine/system-error.js';
import { namesOwnDescriptor } from '../../support/directories/host-files.js';
import { hasCode } from '../../support/errors.js';
import { settlesWithin } from '../../support/timing.js';

/** A disk that hangs holds no result up for longer. */
const LOOK_MS = 1000;

/** A run that writes a spill file from its start on. */
interface Writer {
  /** Another run of this process has written the same file meanwhile. */
  shares: boolean;
}

const writers = new Map<string, Set<Writer>>();

/** Who writes spill files now: two that write one at once spoil it for each other. */
export class SpillFile {
  readonly #path: string;
  readonly #writer: Writer = { shares: false };

  /** @param path Absolute. */
  constructor(path: string) {
    this.#path = path;
    const others = writers.get(path) ?? new Set();
    writers.set(path, others.add(this.#writer));
    if (others.size > 1) for (const other of others) other.shares = true;
  }

  /** Whether it was this run's alone, which has ended. */
  close(): boolean {
    const all = writers.get(this.#path);
    all?.delete(this.#writer);
    if (all?.size === 0) writers.delete(this.#path);
    return !this.#writer.shares;
  }
}

/**
 * The result, with an error where the file is not what was written: the engine knows only that each
 * write went well.
 *
 * @param isOwn Whether no other run has written it.
 */
export async function withSpillChecked(result: RunResult, isOwn: boolean): Promise<RunResult> {
  const { spill } = result;
  if (spill === undefined || spill.error !== undefined) return result;
  const looking = faultOf(spill.path, spill.bytes, isOwn);
  const fault = (await settlesWithin(looking, LOOK_MS)) ? await looking : undefined;
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
    // A device or a pipe keeps nothing.
    if (!found.isFile()) return undefined;
    if (!isOwn) return fault('EBUSY', 'another command wrote the same file meanwhile');
    if (found.size === bytes) return undefined;
    return fault('EIO', `the file was changed meanwhile: it has ${found.size} bytes`);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return fault('ENOENT', 'the file was removed meanwhile');
    // It may be there: who cannot look at it has nothing to say.
    return undefined;
  }
}

function fault(code: 'EBUSY' | 'EIO' | 'ENOENT', message: string): SpillError {
  return { code, errno: ERRNO[code], message };
}
