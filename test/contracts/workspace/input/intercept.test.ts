import { describe, expect, test } from 'vitest';
import { createInterceptor } from '../../../../src/contracts/workspace/input/intercept.js';
import { DEFAULT_INTERCEPTOR_RULES } from '../../../../src/contracts/workspace/input/intercept-rules.js';
import type { ToolAbilities } from '../../../../src/contracts/workspace/input/intercept-tools.js';

const allTools = ['read', 'search', 'find', 'edit', 'write'];

function failOnWarning(message: string): never {
  throw new Error(message);
}

const interceptor = createInterceptor({ enabled: true, tools: allTools }, failOnWarning);

const everything: Required<ToolAbilities> = {
  ...{ append: true, bytes: true, globs: true, lines: true, options: true, root: true, urls: true },
};
const able = createInterceptor(
  { enabled: true, tools: Object.fromEntries(allTools.map((tool) => [tool, everything])) },
  failOnWarning,
);

async function toolFor(command: string, of = interceptor): Promise<string | undefined> {
  return (await of?.(command))?.tool;
}

const blocked: Record<string, readonly string[]> = {
  read: [
    ...['cat x', 'cat -n x', 'cat "a b"', 'cat $HOME/x', 'cat x 2>/dev/null', 'cat x | head -5'],
    ...['head -n 5 f', 'head -n5 f', 'head -5 f', 'tail -n 20 f', 'less f', 'more f'],
    ...['git status && cat x', 'cat a; echo done', 'ls\ncat x', 'true || cat x', 'cat x &'],
    ...['cd a && cat x', 'cd $X && cat x', '(cat x)', '{ cat x; }', '! cat x', 'time cat x'],
    ...['if [ -f x ]; then cat x; fi', 'case $x in a) cat x;; esac'],
    ...['/bin/cat x', '/usr/bin/cat x | /usr/bin/head -5', '/usr/local/bin/cat x'],
  ],
  search: [
    '/usr/bin/grep foo src',
    'grep foo src',
    'grep -rn "a b" .',
    'rg foo',
    'rg -n foo | head',
    'ls && ag foo',
  ],
  find: ['find . -name "*.ts"', 'find . -type f | head', 'fd -t f', 'fd -e ts', 'locate --regex x'],
  edit: [
    ...["sed -i 's/a/b/' f", 'sed -Ei s/a/b/ f', 'sed --in-place s/a/b/ f'],
    ...["perl -pi -e 's/a/b/' f", "perl -i -pe 's/a/b/' f", "perl -0pi -e 's/a/b/' f"],
    ...["awk -i inplace '{print}' f", "gawk -i inplace '{print}' f"],
  ],
  write: [
    ...['echo x > f', 'echo "a b" >| f', 'echo x &> f', 'echo x 1>f', '>f echo x'],
    ...["printf 'a\\n' > 'f g'", 'echo x | tee f', 'echo x | tee f >/dev/null'],
    ...['cat > f <<EOF\nhi\nEOF', "cat <<'EOF' > f\n$hi\nEOF", 'cat <<EOF | tee f\nhi\nEOF'],
    ...['tee f <<EOF\nhi\nEOF', 'cat <<<hi >f'],
    ...['/bin/echo x > f', 'echo x | /usr/bin/tee f', '/usr/bin/tee f <<EOF\nhi\nEOF'],
  ],
};

const passing: Record<string, readonly string[]> = {
  'other programs': [
    ...[
      'git grep foo',
      'git log --grep foo',
      'pgrep x',
      'which grep',
      'npm run cat x',
      'echo cat x',
    ],
    ...['xargs cat', 'type cat', 'sed 5,10p f', "awk '{print $1}' f", 'make 2>&1 | tee log'],
  ],
  'what is quoted, escaped or a comment': [
    ...[
      'echo "cat x"',
      "echo 'cat x'",
      'echo "a -> b"',
      "bash -c 'cat x'",
      'git commit -m "cat x > f"',
    ],
    ...['"cat" x', '\\cat x', 'ls # cat x', '# cat x', "sed -e 's/ -i / x /' f", 'echo a\\ \\>b'],
  ],
  'here-document bodies': [
    ...['cat <<EOF\ncat x > f\nEOF', 'python3 - <<EOF > out\ncat x > f\nEOF', 'cat <<<hi'],
    'cat <<EOF | python3\ncat x > f\nEOF',
  ],
  'what is fed by a pipe': ['printf x | grep x', 'ps aux | grep node', 'ls -l | tail -5'],
  'redirections that write no file': [
    ...['echo x >/dev/null', 'echo x 2>&1', 'echo x >&2', 'echo x > /dev/stderr', 'echo x 2>err'],
    ...['echo x | tee', 'echo x | tee /dev/stderr', 'echo $((1 > 2))', '[[ a > b ]]', '[ 1 > 2 ]'],
  ],
  'what the tool cannot do': [
    ...['tail -f log', 'tail -n 5 -F log', 'tail --follow=name log', 'cat a b > c', 'cat x | jq .'],
    ...[
      'find . -name x -exec rm {} +',
      'find . -name x -delete',
      'find . -mtime -1 -name x',
      'find .',
    ],
    ...[
      'grep -q x f && echo yes',
      'grep -rc x src',
      'grep x f > out',
      'cat /dev/null',
      'cat /proc/cpuinfo',
    ],
    ...['sed -i.bak s/a/b/ f', "perl -0pi.bak -e 's/a/b/' f", 'sed --in-place=.old s/a/b/ f'],
    ...['echo "$(date)" > f', 'echo $X > f', 'cat > f <<EOF\n$X\nEOF', 'echo x | sudo tee /etc/f'],
  ],
  'what other syntax works with': [
    ...['x=$(cat f)', 'echo "$(cat f)"', 'echo `cat f`', 'diff <(cat a) <(cat b)'],
    ...['if grep x f; then echo y; fi', 'for f in *; do cat "$f"; done', 'f() { cat x; }; f'],
    ...['while read l; do echo $l >> f; done', 'ls | while read f; do cat "$f"; done'],
    ...['$(printf cat) x', '(cat) < x', '{ echo a; echo b; } > f'],
  ],
  'programs of the same name in other places': [
    ...[
      './cat x',
      '~/bin/cat x',
      '/opt/tools/bin/cat x',
      '/bin/sub/cat x',
      'bin/cat x',
      '//bin/cat x',
    ],
    ...['/usr/bin/git grep x', '/bin/cat', '"/bin/cat" x', 'ls /bin/cat x', '/usr/bin/xargs cat'],
    ...['printf x | /bin/grep x', 'cat x | /usr/bin/jq .', '/usr/bin/command -v cat x'],
  ],
  'commands without a file': [
    'cat',
    'cat -',
    'head -n 5',
    'cat > f',
    'cat --help',
    'grep --version',
  ],
  'perl scripts and code with an -i of their own': [
    ...['perl script.pl -i', 'perl -MFile::Find -ne 1', "perl -ne 'print if / -i/' f"],
  ],
  'what is not shell': ['echo "x > f', 'cat x )', 'if cat x', 'cat x "', '('.repeat(5000)],
};

describe.each(Object.entries(blocked))('for %s', (tool, commands) => {
  test.each(commands)('%j is blocked', async (command) => {
    expect(await toolFor(command)).toBe(tool);
  });
});

describe.each(Object.entries(passing))('%s', (_, commands) => {
  test.each(commands)('%j passes', async (command) => {
    expect(await toolFor(command)).toBeUndefined();
  });
});

describe('what stands before a program', () => {
  const prefixes = [
    ...[
      'X=y',
      'X="a b" Y=',
      'sudo',
      'sudo -u bob -E',
      'sudo -ubob',
      'sudo --user=bob X=y',
      'sudo --',
    ],
    ...[
      'env',
      'env A=b',
      'env -i A="b c"',
      'env -u A',
      'command',
      'command -p',
      '/usr/bin/sudo -u bob',
      '/usr/bin/env A=b',
      'sudo env X=1 command',
    ],
  ];
  test.each(prefixes)('%j is stepped over', async (prefix) => {
    expect(await toolFor(`${prefix} cat x`, able)).toBe('read');
    expect(await toolFor(`${prefix} git grep x`)).toBeUndefined();
  });

  test.each(['command -v', 'command -V', 'sudo -l', 'env -S', 'sudo --list', 'sudo -e'])(
    '%j does not run what follows',
    async (prefix) => {
      expect(await toolFor(`${prefix} cat x`)).toBeUndefined();
    },
  );
});

describe('rules', () => {
  test('there is one a tool by default, and one for what is appended', () => {
    expect(DEFAULT_INTERCEPTOR_RULES.map(({ tool }) => tool)).toEqual([...allTools, 'write']);
  });

  test('a rule is live only while its tool is there', async () => {
    const names = ['read'];
    const changing = createInterceptor({ enabled: true, tools: () => names }, failOnWarning);
    expect(await changing?.('grep x f')).toBeUndefined();
    names.push('search');
    expect(await changing?.('grep x f')).toMatchObject({ tool: 'search' });
    expect(await changing?.('find . -name x')).toBeUndefined();
  });

  test('a pattern sees the program first, one blank between words, nothing that is quoted', async () => {
    const rule = { tool: 't', pattern: '^RM -rf "" \\S+ >f$', flags: 'gi', message: 'm' };
    const own = createInterceptor({ enabled: true, tools: ['t'], rules: [rule] }, failOnWarning);
    expect(await own?.('X=1 rm  -rf\t"a b" $x   > f')).toBe(rule);
    // With `g`, an expression goes on from its last match.
    expect(await own?.('X=1 rm  -rf\t"a b" $x   > f')).toBe(rule);
    expect(await own?.('echo "rm -rf"')).toBeUndefined();
  });

  test('a pattern sees a path in a standard place as it is, and as a name', async () => {
    const rules = [
      { tool: 't', pattern: '^/usr/bin/rm -rf x$', message: 'path' },
      { tool: 't', pattern: '^mv a b$', message: 'name' },
    ];
    const own = createInterceptor({ enabled: true, tools: ['t'], rules }, failOnWarning);
    expect(await own?.('/usr/bin/rm -rf x')).toMatchObject({ message: 'path' });
    expect(await own?.('/bin/rm -rf x')).toBeUndefined();
    expect(await own?.('/bin/mv a b')).toMatchObject({ message: 'name' });
  });

  test('every text of a command is looked at', async () => {
    expect(await interceptor?.('ls', 'cat x')).toMatchObject({ tool: 'read' });
  });

  test('a pattern that is no regular expression is skipped and reported once', async () => {
    const warnings: string[] = [];
    const rules = [
      { tool: 'read', pattern: '(', message: 'm' },
      { tool: 'read', pattern: '^cat', flags: 'gqz', message: 'm' },
      { tool: 'read', pattern: '^cat', message: 'fine' },
    ];
    const some = createInterceptor({ enabled: true, tools: ['read'], rules }, (message) =>
      warnings.push(message),
    );
    expect(await some?.('cat x')).toMatchObject({ message: 'fine' });
    await some?.('cat x');
    expect(warnings).toEqual([
      expect.stringMatching(/^interceptor: the rule for "read" is skipped: Invalid regular expr/),
      expect.stringMatching(/^interceptor: the rule for "read" is skipped: Invalid flags/),
    ]);
  });

  test('no rule takes long for a hostile command', async () => {
    const hostile = [
      'perl -e',
      'perl -0',
      'cat -a',
      'grep -q1',
      'grep -c',
      'tail -1',
      'find -x1',
      'sed -n',
    ];
    for (const start of hostile) {
      await toolFor(`${start}${' -e'.repeat(20_000)} `);
      await toolFor(`${start}${'q'.repeat(100_000)}1`);
    }
  });
});

test('off means that there is none', () => {
  expect(createInterceptor(undefined, failOnWarning)).toBeUndefined();
  expect(createInterceptor({ tools: allTools }, failOnWarning)).toBeUndefined();
  expect(createInterceptor({ enabled: false, tools: allTools }, failOnWarning)).toBeUndefined();
});
