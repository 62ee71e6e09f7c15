import { expect, test } from 'vitest';
import { isClosed, isClosedAlias, isClosedFunction } from '../../src/snapshot/closed-texts.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { useSnapshots } from '../support/snapshots.js';

leavesNothingBehind();
const snapshotOf = useSnapshots(useFolder());

test.each([
  ...['gs', 'gs -s && make "$X" || exit 3', 'X=1 command git "$@" >"$2" 2>&1', 'cd "$1" | cat', ''],
  ...['if [ "$#" = 2 ]; then gs; else ! gs; fi', `for x in "$@"; do echo $x \${1}; done`],
  ...["local x=1 y='a b' z", 'while test -z "$x"; do shift 1; return; done'],
])('%j can only call what it names', (text) => {
  expect(isClosed(text)).toBe(true);
});

test.each([
  ...[
    '$x',
    'a; "$1"',
    'if $x; then a; fi',
    '! "$@"',
    `X=1 \${x}_y`,
    'command "$x"',
    'then $x',
    'g*',
  ],
  ...[
    'eval a',
    '. x',
    'source x',
    'trap a EXIT',
    'command eval a',
    'command -p eval a',
    'mapfile -C a',
  ],
  ...[
    'echo $(a)',
    'echo `a`',
    'echo $((x))',
    `echo "\${x@P}"`,
    `echo \${x:-a}`,
    '((x))',
    '[[ a ]]',
    "'a'",
  ],
  ...[
    'local -i x=$1',
    'local "$x"',
    'export "$x"',
    'printf -v "$x"',
    'printf "$x" y',
    '[ -v "$x" ]',
  ],
  ...[
    'case x in a) b;; esac',
    'a & b',
    'a <<x',
    'a # b',
    'f() { a; }',
    'a > ',
    'test -R x',
    '{ $x; }',
  ],
])('%j may call more than it names', (text) => {
  expect(isClosed(text)).toBe(false);
});

test('text that follows an alias does not change what the alias begins', () => {
  const all = ['git diff', 'X=1 a', 'a;', 'X=1', '!', 'if', 'a ', 'a && command', '$x'];
  expect(all.filter(isClosedAlias)).toEqual(['git diff', 'X=1 a']);
});

test('a function is closed by its body alone', () => {
  expect(isClosedFunction('a () \n{ \n    b;\n    c "$@"\n}\n')).toBe(true);
  expect(isClosedFunction('a () \n{ \n    "$@"\n}\n')).toBe(false);
  expect(isClosedFunction('a () \n{ \n    b\n} 1> $(c)\n')).toBe(false);
  expect(isClosedFunction('a () \n( b )\n')).toBe(false);
});

test('a command whose calls are all named gets these functions alone, any other one stubs', async () => {
  const snapshot = await snapshotOf(
    `a() { b "$@"; }\nb() { echo "b $1"; }\nc() { "$@"; }\n${'d() { echo d; }\n'.repeat(9)}
    e() { echo e; }\nf() { echo f; }\ng() { echo g; }\nalias aa='a 1'\n`,
  );
  const read = (command: string) => /\. \S+ ([\w ]*) >/.exec(snapshot.text(command, 'needed'))?.[1];
  expect(read('a 2; aa')).toBe('named a b');
  expect(read('a $(date)')).toBe('stubs a b');
  expect(read('c e')).toBe('stubs e c');
  for (const command of ['a 2; aa', 'x=a; $x 3', 'c e; c a 4', 'a 2 | cat; e && nosuch']) {
    expect(await snapshot.run(command, 'needed')).toEqual(await snapshot.run(command, 'every'));
  }
});

test('where commands that are not found are handled, others than those named may be called', async () => {
  const snapshot = await snapshotOf(
    'a() { nosuch; }\nb() { echo b; }\nc() { :; }\nd() { :; }\ncommand_not_found_handle() { x=b; $x; }',
  );
  expect(snapshot.text('a', 'needed')).not.toContain(' named ');
  expect((await snapshot.run('a', 'needed')).stdout).toBe('b\n');
});
