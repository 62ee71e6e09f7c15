import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { run } from '../../src/index.js';
import { loadShellParser, parseShell } from '../../src/shell/parser.js';
import {
  findPipelineCode,
  hiddenPrograms,
  mayHavePipelineCode,
} from '../../src/shell/pipeline-code.js';
import { findPipelineUse } from '../../src/shell/pipeline-use.js';
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
  expect(codeOf(text, exitCode)).toMatchObject({ program, before });
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

test.each([
  ['timeout 60 npm test | tail', ['npm test']],
  ['timeout -s KILL --kill-after=5 60 cargo test 2>&1 | tail -5', ['cargo test']],
  ['sudo timeout 9 env A=1 nice -n 5 make | tail', ['make']],
  ['nohup stdbuf -oL pytest | tee log', ['pytest']],
  ['nice ./run | tail', ['./run']],
  ['timeout --odd 60 make | tail', ['timeout']],
  ['timeout 60 | tail', ['timeout']],
  ['/usr/bin/timeout 60 /usr/bin/make | tail', ['make']],
])('W23: %s names what runs, not how it runs', (text, before) => {
  expect(codeOf(text)?.before).toEqual(before);
});

const TO_THE_END = [
  ...[
    'tail',
    'tail -5',
    'tail -n 5',
    'tail -n +3',
    'cat',
    'cat -',
    'wc -l',
    'sort -u',
    'sort -k 2',
  ],
  ...[
    'uniq -c',
    'cut -d , -f 1',
    'tr a-z A-Z',
    'tee log',
    'tee a b',
    'sed -n 1,5p',
    "sed 's/a/b/'",
  ],
  ...['sed -e 1d -e 2d', "awk '{print $1}'", 'awk -F : "/x/"', 'column -t', 'sort >out', 'rev'],
];
const PERHAPS_NOT = [
  ...['head', 'head -5', 'head -n 5', 'head -n -5', 'sed 5q', "sed -n '1,5p;5q'", 'sed 5Q', 'less'],
  ...[
    "awk 'NR>5{exit}'",
    "awk 'BEGIN{print 1}'",
    'awk -f x.awk',
    'more',
    'grep -q x',
    'grep -m1 x',
  ],
  ...['grep -m 1 x', 'grep -qi x', 'grep --quiet x', 'grep x f', 'grep -l x', 'grep x >/dev/null'],
  ...[
    'grep -r x',
    'rg -m1 x',
    'rg -q x',
    'ack -1 x',
    'jq -e .a',
    'jq first',
    'tail f',
    'cat f',
    'cat <f',
  ],
  ...[
    'tee >(head)',
    'sort -c',
    'xxd -l 10',
    'od -N 5',
    'bat',
    'sed "$x"',
    'awk "$x"',
    'sed -i x f',
  ],
  ...['tail $x', 'sed -f x', 'uniq f', 'head -c 10', 'pv', 'sudo tee log', 'timeout 5 tail'],
];
const VERDICTS = [
  'grep x',
  'grep -v x',
  'grep -ci x',
  'grep -e x',
  'egrep "a|b"',
  'rg -n x',
  'grep -A 5 x',
];

test.each(TO_THE_END)('W5: `make | %s` is read to the end', (reader) => {
  expect(codeOf(`make 2>&1 | ${reader}`)).not.toHaveProperty('remedy');
});

test.each(PERHAPS_NOT)('W5: `make | %s` may not be read to the end', (reader) => {
  const code = codeOf(`make 2>&1 | ${reader}`);
  if (code) expect(code).toMatchObject({ remedy: 'file' });
  else expect(reader).toMatch(/^sudo|^timeout/);
  expect(codeOf(`make | ${reader} | tail`)).toMatchObject({ remedy: 'file' });
});

test.each(VERDICTS)('W5: `make | %s` has an exit code of its own', (reader) => {
  expect(codeOf(`make 2>&1 | ${reader}`)).toMatchObject({ remedy: 'PIPESTATUS' });
});

test('W5: what stands before the program that matters makes no difference', () => {
  expect(codeOf('head -5 f | make | tail')).not.toHaveProperty('remedy');
  expect(codeOf('make | xargs foo | tail')).toMatchObject({ remedy: 'file' });
});

function useOf(text: string) {
  if (!mayHavePipelineCode(text)) return undefined;
  const script = parseShell(parser, text);
  return script && findPipelineUse(parser, script, text);
}

test.each([
  ['pytest | tail -5; echo "exit: $?"', '$?', 'tail', 'pytest'],
  ['pytest | tail -5\necho $?', '$?', 'tail', 'pytest'],
  ['cd app && pytest | tail -5; code=$?; echo done; exit $code', '$?', 'tail', 'pytest'],
  ['pytest | tail; [ $? -eq 0 ] && echo OK', '$?', 'tail', 'pytest'],
  ['pytest | tail; if [[ $? == 0 ]]; then echo OK; fi', '$?', 'tail', 'pytest'],
  ['pytest | tail; (( $? )) && echo bad', '$?', 'tail', 'pytest'],
  [`pytest | tail; echo \${?}`, '$?', 'tail', 'pytest'],
  ['(cd app; make | tail); echo $?', '$?', 'tail', 'make'],
  ['make | grep -i error; echo "$?"', '$?', 'grep', 'make'],
  ['npm run build | tail -5 && echo BUILD OK', '&&', 'tail', 'npm run'],
  ['timeout 60 make | tail || exit 1', '||', 'tail', 'make'],
  ['cd x && make | head && ./run', '&&', 'head', 'make'],
  ['if make | tail; then echo ok; fi', 'if', 'tail', 'make'],
  ['if ! make | tail -3; then exit 1; fi', 'if', 'tail', 'make'],
  ['if true; then :; elif make | cat; then :; fi', 'if', 'cat', 'make'],
  ['until curl x | tail -1; do sleep 1; done', 'until', 'tail', 'curl'],
  ['(make | tail && echo OK) >log', '&&', 'tail', 'make'],
  ['trap x EXIT; make | tail && echo OK', '&&', 'tail', 'make'],
] as const)('W10: %s: %s goes by %s, not by %s', (text, usedBy, program, hidden) => {
  const use = useOf(text);
  expect(use).toMatchObject({ usedBy, program });
  expect(use && hiddenPrograms(use)).toEqual([hidden]);
});

test.each([
  'pytest | tail -5; echo done',
  'pytest | tail; true; echo $?',
  "pytest | tail; echo '$?'",
  'pytest | tail & echo $?',
  'ps aux | grep node && echo running',
  'make 2>&1 | grep -q error && echo bad',
  'if pytest | grep -q passed; then echo ok; fi',
  'cat x | tail; echo $?',
  'set -o pipefail; pytest | tail; echo $?',
  `pytest | tail; echo \${PIPESTATUS[0]} $?`,
  'eval "$(setup)"; pytest | tail; echo $?',
  'source ./env.sh; pytest | tail && echo OK',
  'f() { make | tail; }; f && echo $?',
  'pytest && ls | tail; echo $?',
])('W10: %s asks for no exit code that is another one', (text) => {
  expect(useOf(text)).toBeUndefined();
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
