import { expect, test } from 'vitest';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { fc } from '../support/properties.js';
import { useSnapshots } from '../support/snapshots.js';

leavesNothingBehind();
const folder = useFolder();
const snapshotOf = useSnapshots(folder);

const word = fc.constantFrom(
  ...['a', "'q r'", '"q r"', '-n', '-v', '*', 'f*', '{a,b}', '~', 'x=1', '[a]', 'f0', 'ls', ';'],
  ...[
    '!',
    '2>&1',
    '>/dev/null',
    '2>/dev/null',
    '</dev/null',
    '@',
    '%s',
    '/',
    '--',
    '""',
    "''",
    '$HOME',
    '"$x"',
    '$y',
    '$?',
    'z$z',
    `"\${PWD}/$list"`,
    '$number',
  ],
);
const program = fc.constantFrom(
  ...[
    'echo',
    'ls',
    'll',
    'la',
    'l',
    'printf',
    'cat',
    'f0',
    'f1',
    'loud',
    'twice',
    'cd',
    'pwd',
    'test',
  ],
  ...['nosuchprogram', 'true', 'false', '[', ':', 'exit', 'wc', 'self', 'odd', 'if', 'say'],
);
const assignment = fc.constantFrom(
  'x=1',
  'y="a $x"',
  'number+=1',
  'list=2',
  'fixed=3',
  'PATH=/bin',
  'IFS=/',
);
const simpleCommand = fc
  .tuple(
    fc.array(assignment, { maxLength: 2 }),
    fc.oneof(program, program, fc.constant('w=1')),
    fc.array(word, { maxLength: 4 }),
  )
  .map(([before, name, words]) => [...before, name, ...words].join(' '));
const plain = fc
  .tuple(
    simpleCommand,
    fc.array(
      fc.tuple(
        fc.constantFrom(' | sort && ', ' 2>&1 | wc; ', ' && ', ' || ', '; ', '\n', ';'),
        simpleCommand,
      ),
      {
        maxLength: 3,
      },
    ),
  )
  .map(([first, others]) => [first, ...others.flat()].join(''));

const ALIASES = `
alias ls='ls -d' ll='ls -x /usr' la='ll -a' l='echo "l $x"' loud='echo loud;' twice='sudo ' sudo='echo '
alias self='self self' odd='echo "' say='f1 said' cat='cat -n' wc='wc -c'
declare -i number=7; list=(p 'q r'); y='from rc'; readonly fixed=1
f0() { echo "f0 $*"; }; f1() { echo "f1 $*"; }
`;
const OPTIONS = [
  '',
  'set -o pipefail',
  'shopt -s nullglob dotglob histappend',
  'set -f',
  'shopt -s cdable_vars; etc=/etc',
];

test('a command that needs no snapshot does the same without one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...OPTIONS),
      fc.array(plain, { minLength: 8, maxLength: 8 }),
      async (options, texts) => {
        const snapshot = await snapshotOf(`${ALIASES}${options}\n`);
        const ways = ['every', 'needed'] as const;
        await Promise.all(
          texts.map(async (text) => {
            const [every, needed] = await Promise.all(ways.map((as) => snapshot.run(text, as)));
            expect({ text, ...needed }).toEqual({ text, ...every });
          }),
        );
      },
    ),
    { numRuns: 25 },
  );
});
