import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { run } from '../../src/index.js';
import { loadShellParser, parseShell } from '../../src/shell/parser.js';
import {
  findPipelineCode,
  hiddenPrograms,
  mayHavePipelineCode,
} from '../../src/shell/pipeline-code.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { fc } from '../support/properties.js';

leavesNothingBehind();
const folder = useFolder();
const parser = await loadShellParser();

function codeOf(text: string, exitCode = 0) {
  if (!mayHavePipelineCode(text)) return undefined;
  const script = parseShell(parser, text);
  return script && findPipelineCode(parser, script, text, exitCode);
}

test.each([
  ['pytest | tail', 0, 'tail', ['pytest']],
  ['pytest -q 2>&1 | tail -5', 0, 'tail', ['pytest']],
  ['npm test 2>&1 | grep -v warn | tail -n 20', 0, 'tail', ['npm test', 'grep']],
  ['cd app && make |& tee log', 0, 'tee', ['make']],
  ['cd app; CI=1 make | grep error', 1, 'grep', ['make']],
  ['make || make -j1 | cat', 2, 'cat', ['make']],
  ['time ./run-tests | /usr/bin/less', 0, 'less', ['./run-tests']],
  ['(cd app && cargo test) | head', 0, 'head', ['cargo test']],
  ['(cd app && cargo test | head)', 0, 'head', ['cargo test']],
  ['{ a; b | sort; } >out', 0, 'sort', ['b']],
  ['for f in *; do check $f; done | sort', 0, 'sort', ['the for']],
  ['if a; then b; fi | sort', 0, 'sort', ['the if']],
  ['make | sudo tee /etc/log', 0, 'tee', ['make']],
  ['env A=1 python -m pytest | tail', 0, 'tail', ['python']],
  ['docker exec web pytest | tail', 0, 'tail', ['docker exec']],
  ['make | tail # the end', 0, 'tail', ['make']],
  ["sh -c 'exit 3' | tail", 0, 'tail', ['sh']],
  ['(exit 3); (trap x EXIT; make) | tail', 0, 'tail', ['make']],
  ['. .venv/bin/activate && pytest | tail', 0, 'tail', ['pytest']],
  ['$(pick) x | tail', 0, 'tail', ['$(pick)']],
] as const)('%s, with code %i, has the code of %s', (text, exitCode, program, before) => {
  expect(codeOf(text, exitCode)).toEqual({ program, before });
});

test.each([
  ['pytest', 0],
  ['pytest | xargs echo', 0],
  ['pytest | tail; echo done', 0],
  ['pytest | tail && echo done', 0],
  ['pytest | tail &', 0],
  ['! pytest | tail', 0],
  ['set -o pipefail; pytest | tail', 1],
  ['bash -o pipefail -c "a" | tail', 0],
  ['pytest | tail; exit $PIPESTATUS', 1],
  ['cd app && pytest | grep x', 1],
  ['a || b | tail', 0],
  ['set -eu; cd app; pytest | grep x', 1],
  ['test -f x || exit 0; pytest | tail', 0],
  ["trap 'exit 3' EXIT; pytest | tail", 3],
  ['exec 3>&1; exec pytest | tail', 0],
  ['if a; then b | tail; fi', 0],
  ['if a; then exit; fi; pytest | tail', 0],
  ['f() { exit; }; f; pytest | tail', 0],
  ['eval "$(setup)"; pytest | tail', 0],
  ['source ./env.sh; pytest | tail', 0],
  ["echo 'a | tail'", 0],
  ['pytest | "$PAGER"', 0],
  ['pytest | (tail', 0],
] as const)('%s, with code %i, has no code of another program for certain', (text, exitCode) => {
  expect(codeOf(text, exitCode)).toBeUndefined();
});

test('programs that only show something hide no exit code', () => {
  const hidden = (text: string) => hiddenPrograms(codeOf(text) ?? { program: '', before: ['?'] });
  expect(hidden('cat file.txt | grep pattern | wc -l')).toEqual([]);
  expect(hidden('git log --oneline | head')).toEqual([]);
  expect(hidden('git push | tail')).toEqual(['git push']);
  expect(hidden('make 2>&1 | grep -i error | sort | uniq -c')).toEqual(['make']);
});

test("a program's name is short, and has no control characters", () => {
  expect(codeOf(`'a\u001b[31m${'x'.repeat(90)}' | tail`)?.before).toEqual([
    `a\\x1b[31m${'x'.repeat(34)}`,
  ]);
});

test.each([
  ['newlines', '\n'.repeat(1e6)],
  ['blanks', `;${' '.repeat(1e6)}`],
  ['separators', '; '.repeat(5e5)],
  ['bars', '|'.repeat(1e6)],
  ['words', `set -${'a'.repeat(1e6)}`],
])('a megabyte of %s is not parsed', (_, text) => {
  expect(mayHavePipelineCode(`${text} | tail`)).toBe(false);
  expect(codeOf(`${text.slice(0, 30_000)} | cd`)).toBeUndefined();
});

const simple = fc.constantFrom('true', 'false', '(exit 3)', 'cd /', 'false | true', 'set -e');
const link = fc.constantFrom('; ', ' && ', ' || ', '\n');
const last = fc.constantFrom(
  ...['false | tail', 'true | false | tail', '! true | tail', '(true && false | tail)'],
  ...['{ false; true | tail; }', 'time true | tail', 'if true; then true | tail; fi'],
);
const program = fc.tuple(fc.array(fc.tuple(simple, link), { maxLength: 3 }), last);

test("an exit code that is attributed to the last program is the last program's", async () => {
  const tail = folder.file('tail');
  const ran = folder.file('ran');
  writeFileSync(tail, `#!/bin/sh\ntouch ${ran}\nexit $CODE\n`);
  chmodSync(tail, 0o755);
  let told = 0;
  await fc.assert(
    fc.asyncProperty(program, fc.constantFrom(0, 1, 7), async ([before, end], code) => {
      const text = before.map((pair) => pair.join('')).join('') + end;
      rmSync(ran, { force: true });
      const env = { CODE: String(code), PATH: `${folder.path}:${process.env.PATH}` };
      const { outcome } = await run(text, { env });
      const exitCode = outcome.kind === 'exited' ? outcome.exitCode : -1;
      if (codeOf(text, exitCode) === undefined) return;
      told += 1;
      expect([text, exitCode, existsSync(ran)]).toEqual([text, code, true]);
    }),
    { numRuns: 150 },
  );
  expect(told).toBeGreaterThan(20);
});
