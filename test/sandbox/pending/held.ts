import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type HeldChanges,
  type MergedResult,
  run,
  type SandboxPolicy,
} from '../../../src/index.js';

/** A policy that holds changes: a new one each time, since what is held belongs to the object. */
export const holding = (more: SandboxPolicy = {}): SandboxPolicy => ({
  mode: 'workspace-write',
  changes: 'hold',
  ...more,
});

/** Makes files in a folder, each with its name as its content. */
export function fill(folder: string, names: readonly string[]): string {
  for (const name of names) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), `${name}\n`);
  }
  return folder;
}

/** What `find` and `sha1sum` tell of a folder: all of it. */
export function picture(folder: string): string {
  const text =
    'find . -printf "%p %y %m %l\\n" | LC_ALL=C sort; find . -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha1sum';
  return execFileSync('bash', ['-c', text], { cwd: folder, encoding: 'utf8' });
}

/** Runs a command and returns its result, and what is held. */
export async function held(
  command: string,
  cwd: string,
  sandbox: SandboxPolicy = holding(),
): Promise<MergedResult & { readonly changes: HeldChanges }> {
  const result = await run(command, { cwd, sandbox, timeoutMs: 30_000 });
  const { changes } = result;
  if (changes?.state !== 'held') throw new Error(`not held: ${JSON.stringify(result.outcome)}`);
  return { ...result, changes };
}

export const textOf = (path: string): string => readFileSync(path, 'utf8');
