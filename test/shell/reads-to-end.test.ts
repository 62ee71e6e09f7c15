import { chmodSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { run, textOf } from '../../src/index.js';
import { loadShellParser, parseShell } from '../../src/shell/parser.js';
import { findPipelineCode } from '../../src/shell/pipeline-code.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { installed, where } from '../support/needs.js';
import { fc } from '../support/properties.js';

leavesNothingBehind();
const folder = useFolder();
const parser = await loadShellParser();

/** Prints more than a pipe holds, and is ended by SIGPIPE when nobody reads it to the end. */
const PRODUCER = './producer';
beforeAll(() => {
  const loop = 'while [ $i -lt 9000 ]; do i=$((i + 1)); echo "$i:some words to fill a line"; done';
  writeFileSync(folder.file('producer'), `#!/bin/sh\ni=0\n${loop}\nexit 3\n`);
  writeFileSync(folder.file('file'), '7:some\n');
  chmodSync(folder.file('producer'), 0o755);
});

const program = (name: string, options: readonly string[], operands: readonly string[]) =>
  fc
    .tuple(
      fc.subarray([...options], { maxLength: Math.min(2, options.length) }),
      fc.subarray([...operands], { maxLength: Math.min(2, operands.length) }),
      fc.boolean(),
    )
    .map(([chosen, rest, first]) =>
      [name, ...(first ? [...rest, ...chosen] : [...chosen, ...rest])].join(' '),
    );

const reader = fc.oneof(
  program('cat', ['-n', '-A', '-'], ['file', '-']),
  program('tail', ['-n 5', '-n +3', '-5', '-c 9', '-n5', '-z'], ['file', '-']),
  program('head', ['-n 5', '-n -5', '-c 9'], ['file']),
  program('wc', ['-l', '-c'], ['file', '-']),
  program('sort', ['-u', '-k 2', '-t :', '-k2,2', '-c', '-C', '-r', '-o out'], ['file']),
  program('uniq', ['-c', '-f 1', '-d'], ['file', '-']),
  program('cut', ['-d :', '-f 1', '-d:', '-f1', '-c 1-3'], ['file']),
  program('tr', ['-d', '-s'], ['a-z', 'A-Z']),
  program('tee', ['-a', '-i'], ['out', 'out2', '>(true)', '>(head -1)']),
  program('sed', ['-n', '-E', '-e 1d', '-e 5q'], ['5q', '1,5p', 's/a/b/', '$d', '5Q', 'file']),
  program(
    'awk',
    ['-F :', '-v x=1'],
    ["'{print $1}'", "'NR>5{exit}'", "'BEGIN{print}'", '/x/', 'file'],
  ),
  program(
    'grep',
    ['-q', '-m1', '-m 1', '-c', '-v', '-l', '-i', '-A 3', '-e x', '-r', '-L'],
    ['7:some', 'nothing', 'file'],
  ),
  program('fold', ['-w 5'], ['file']),
  program('nl', ['-b a'], ['file']),
  program('paste', ['-d ,', '-s'], ['-', 'file']),
  program('rev', [], ['file']),
);

test('W5: a filter of which it is said that it reads to the end does so, and fails as is said', async () => {
  let told = 0;
  await fc.assert(
    fc.asyncProperty(reader, fc.constantFrom('', ' >/dev/null', ' <file'), async (name, after) => {
      const text = `${PRODUCER} | ${name}${after}`;
      const script = parseShell(parser, text);
      const code = script && findPipelineCode(parser, script, text, 0);
      if (code === undefined || code.remedy === 'file') return;
      const { output } = await run(`${text} | cat >/dev/null; echo "\${PIPESTATUS[@]}"`, {
        cwd: folder.path,
      });
      const [first, second] = textOf(output).trim().split('\n').at(-1)?.split(' ') ?? [];
      // A usage error ends the filter at once, and is told by its own exit code.
      const isUsage = second !== '0' && !name.startsWith('grep');
      if (isUsage || (name.startsWith('grep') && Number(second) > 1)) return;
      told += 1;
      expect([text, first]).toEqual([text, '3']);
      if (code.remedy === undefined) expect([text, second]).toEqual([text, '0']);
    }),
    { numRuns: 150 },
  );
  expect(told).toBeGreaterThan(20);
});

test('W5: with pipefail the code is then the hidden one', where(installed('column')), async () => {
  for (const name of [
    'tail -n 3',
    'column -t',
    'sort -u',
    'tee out',
    "awk '{print $1}'",
    'wc -l',
  ]) {
    const text = `set -o pipefail; ${PRODUCER} | ${name}`;
    const { outcome } = await run(text, { cwd: folder.path });
    expect([text, outcome]).toEqual([text, { kind: 'exited', exitCode: 3 }]);
  }
});
