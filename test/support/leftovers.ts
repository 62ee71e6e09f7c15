import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from 'vitest';
import { createOwner, type Owner, run } from '../../src/index.js';
import { useDisposal } from './disposal.js';
import {
  childrenOf,
  eventually,
  keeperOf,
  openDescriptors,
  processesOf,
  zombiesOf,
} from './processes.js';

/**
 * Descriptors that a runtime opens for itself, with or without this package: Deno two sockets, a second
 * after its start, and three with its first watch of a file, which it keeps when that is closed; Bun an event
 * loop at its first synchronous child process.
 */
const RUNTIMES_OWN = 'deno' in process.versions ? 5 : 'bun' in process.versions ? 2 : 0;

/**
 * Checks, once all tests of a file have run, that they left no process, zombie or descriptor. To be
 * called before anything else registers hooks, so that it comes last.
 *
 * @param sandboxes How many sandboxes of this process the tests make: each keeps descriptors for the next command.
 */
export function leavesNothingBehind(sandboxes = 0): void {
  let before = 0;
  beforeAll(async () => {
    // What the engine opens once and for all is opened by its first command with a spill file, and,
    // for its keeper, just after it.
    await run('true', { spill: '/dev/null' });
    await sleep(100);
    before = await descriptorsAtRest();
  });
  afterAll(async () => {
    await eventually(() => expect(processesOf()).toEqual([]));
    await eventually(() => expect(zombiesOf()).toEqual([]));
    await eventually(() =>
      expect(openDescriptors().length).toBeLessThanOrEqual(before + 4 * sandboxes + RUNTIMES_OWN),
    );
  });
}

/**
 * How many descriptors this process has once its keeper stands. A command may have been run by somebody
 * whose keeper has died, and what waits for the next one is made after a command's end.
 */
export async function descriptorsAtRest(): Promise<number> {
  const keeper = keeperOf();
  // The portable engine has none.
  if (keeper > 0) {
    await eventually(() => expect(childrenOf(keeper).length).toBeGreaterThanOrEqual(2));
  }
  return openDescriptors().length;
}

/** Removes a folder, in which sandboxes may still tidy their layers of caches: their host has just ended. */
export function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}

/** A folder for the tests of a file; removed after them. */
export function useFolder(): { readonly path: string; file(name: string): string } {
  let path = '';
  beforeAll(() => {
    path = realpathSync(mkdtempSync(join(tmpdir(), 'forkline-cases-')));
  });
  afterAll(() => removeFolder(path));
  return {
    get path() {
      return path;
    },
    file: (name) => join(path, name),
  };
}

/** Makes a folder for each test that asks; all are removed after the tests of a file. */
export function useFolders(): () => string {
  const all = useFolder();
  return () => mkdtempSync(all.file('folder-'));
}

/** A folder for what is set up before the tests of a file run; removed after them. */
export function makeFolder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'forkline-cases-')));
  afterAll(() => removeFolder(path));
  return path;
}

/** Makes owners that are disposed of after the test that asked for them. */
export function useOwners(): () => Owner {
  const keep = useDisposal();
  return () => keep(createOwner());
}
