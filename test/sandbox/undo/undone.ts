import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { type Changes, type MergedResult, run, type SandboxUndo } from '../../../src/index.js';
import { useScenes } from '../../support/sandbox.js';
import { differences, startTrees } from './fuzz/trees.mjs';

/** What a tree was, to be compared with what it is. */
type Trees = ReturnType<typeof startTrees>;
type Tree = Awaited<ReturnType<Trees['look']>>;

/** A directory with files in which commands are run whose changes can be taken back. */
export interface Undone {
  readonly path: string;
  readonly before: Tree;
  run(command: string, undo?: boolean | SandboxUndo): Promise<Ended>;
  /** What is not as it was at the beginning, one line each. */
  differences(): Promise<readonly string[]>;
}

/** A command that has ended, and what it has changed. */
export interface Ended {
  readonly result: MergedResult;
  readonly text: string;
  readonly changes: Changes;
}

/** Makes such directories, all below one that is writable, with the state of the host beside it. */
export function useUndone(): (setup: string) => Promise<Undone> {
  const scenes = useScenes();
  let trees: Trees | undefined;
  beforeAll(() => {
    for (const name of ['work', 'state']) mkdirSync(join(scenes.path, name), { mode: 0o700 });
    vi.stubEnv('XDG_STATE_HOME', join(scenes.path, 'state'));
    trees = startTrees();
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    trees?.end();
  });
  return async (setup) => {
    if (trees === undefined) throw new Error('before the tests');
    return makeUndone(trees, join(scenes.path, 'work'), setup);
  };
}

async function makeUndone(trees: Trees, workspace: string, setup: string): Promise<Undone> {
  const path = mkdtempSync(join(workspace, 'tree-'));
  execFileSync('bash', ['-ec', setup], { cwd: path, stdio: ['ignore', 'ignore', 'inherit'] });
  const before = await trees.look(path);
  return {
    path,
    before,
    async run(command, undo = true) {
      const sandbox = { mode: 'workspace-write', workspace, undo } as const;
      const result = await run(command, { cwd: path, sandbox, timeoutMs: 60_000 });
      const { output, changes } = result;
      const text = output.kind === 'complete' ? output.text : output.head + output.tail;
      if (changes?.state !== 'made') throw new Error('no changes were told');
      return { result, text, changes };
    },
    differences: async () => differences(before, await trees.look(path)),
  };
}

/** Takes everything back, without a conflict, and compares all of it. */
export async function expectReverted(undone: Undone, { changes }: Ended): Promise<void> {
  const { conflicts, lost } = await changes.revert();
  const differences = await undone.differences();
  expect({ conflicts, lost, differences }).toEqual({ conflicts: [], lost: [], differences: [] });
}
