import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CASES } from '../../../bench/sandboxes/cases.mjs';
import { MACHINES } from '../../../bench/sandboxes/machines.mjs';

// What is built, as bench/sandboxes/run.mjs has it, which also asks the frameworks' own.

/** Measured by the benchmark, and said in the docs. */
const MEASURED = ['gigabyte', 'call'];
/** A manifest of the Agents SDK takes no backslash, and entries of one are the only way in. */
const NOT_THEIRS: readonly string[] = ['openai-agents names'];

describe.each(['ai-sdk', 'deepagents', 'openai-agents'])('the machine for %s', (name) => {
  const cases = Object.keys(CASES).filter(
    (each) => !MEASURED.includes(each) && !NOT_THEIRS.includes(`${name} ${each}`),
  );

  test.each(cases)('keeps what is asked of one, where its protocol offers it: %s', async (each) => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'forkline-conformance-')));
    mkdirSync(join(directory, 'root'));
    const machine = await MACHINES[name]?.open(join(directory, 'root'), 3000);
    try {
      if (machine === undefined) throw new Error('no such machine');
      const verdict = await CASES[each]?.run(machine, directory);
      expect(verdict?.kept, verdict?.note).not.toBe(false);
    } finally {
      await machine?.close();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
