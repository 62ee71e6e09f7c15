import { expect, test } from 'vitest';
import { plainCommands } from '../../src/snapshot/plain-commands.js';

test.each([
  ['echo hi', ['echo']],
  ['npm test && git diff --stat >x 2>&1; ls | head -5', ['npm', 'git', 'ls', 'head']],
  ['git commit -m "fix: it (really)" -m \'$x `y` \\\' || exit 3\n\ncd ..', ['git', 'exit', 'cd']],
  ['>x 2>>y cat <z -- *.ts src/{a,b} ~/c \'\' ""', ['cat']],
  ["find . -name '*.ts' ! -path ./x -type f", ['find']],
  ['[ -f x ] && : ok &>/dev/null >&2 2>&-', ['[', ':']],
  [`CI=1 X+="a b" npm test; X=; Y=$X; echo "$Y \${X}s" $? >"$Z"`, ['npm', 'echo']],
  ['', []],
])('%j is plain', (text, names) => {
  expect(plainCommands(text)?.names).toEqual(names);
});

test.each([
  ...[
    `echo \${x:-y}`,
    'echo "$(x)"',
    'echo `x`',
    '$x',
    '"$x" y',
    'x$y z',
    'echo $((1))',
    'echo \\x',
    'x[0]=1',
    'x=(1)',
    'x=`y`',
    '[ $x y ]',
    'printf "$x"',
    "echo $'x'",
    'echo $"x"',
    'echo $1',
    'echo $-',
    'n"v"m',
    "'nvm' ls",
  ],
  ...['n*m', '~/x', 'if true', 'for x', '! x', '{ x', '(x)', 'x () { y', '. x', 'eval x', 'time x'],
  ...['x & y', 'x |& y', 'x >| y', 'x <> y', 'x << y', 'x <<< y', 'x <(y)', 'x >&y', 'x >& y'],
  ...['x > ', 'x > ; y', 'x > > y', 'x # y', 'x "', "x '", 'x "\\"', 'x;y(', '[[ a ]]', '((x))'],
  ...[
    '[ -v x ]',
    '[ -R x ]',
    'test "-v" x',
    "test -'v' x",
    '[ ""-v x ]',
    'printf -v x y',
    'export x',
    'command x',
    '%1',
  ],
  ...['x\r', 'x\0', 'x 2>&1y', 'x @(a)', 'set -x', 'echo a\\\nb'],
])('%j is not plain', (text) => {
  expect(plainCommands(text)).toBeUndefined();
});

test('all variables that a text names are found', () => {
  const { variables } = plainCommands(`A=1 B+=$C x "$D\${E}" '$F' G=2 >$H $?`) ?? {};
  expect(variables).toEqual(['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H']);
});

test('a text that ends with a separator or a redirection goes on with another command', () => {
  expect(plainCommands('ls -l')?.isContinued).toBe(true);
  expect(plainCommands('ls -l;')?.isContinued).toBe(false);
  expect(plainCommands('ls | ')?.isContinued).toBe(false);
  expect(plainCommands('ls >x')?.isContinued).toBe(true);
});
