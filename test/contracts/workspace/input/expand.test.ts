import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expandUrls } from '../../../../src/contracts/workspace/input/expand.js';
import { createUrlRegistry } from '../../../../src/urls/registry.js';
import { fc } from '../../../support/properties.js';

/** `local://x` is `/r/x`, with an odd character so that quoting shows. */
const registry = createUrlRegistry({
  local: { resolve: (url) => ({ path: `/r/${url.replace(/^local:\/+/, '')}` }) },
  odd: { resolve: (url) => ({ path: `/o'${url.slice('odd://'.length)}` }) },
});

async function expanded(command: string): Promise<string> {
  return (await expandUrls({ command, env: undefined, cwd: undefined }, registry)).command;
}

const replaced: readonly [string, string][] = [
  ['cat local://x', 'cat /r/x'],
  ['cat local:/x', 'cat /r/x'],
  ['local://bin/run a', '/r/bin/run a'],
  ['cat local://x;ls', 'cat /r/x;ls'],
  ['cat local://x&&ls|wc', 'cat /r/x&&ls|wc'],
  ['(cat local://x)', '(cat /r/x)'],
  ['cat<local://x>local://y', 'cat</r/x>/r/y'],
  ['cat 2>>local://x', 'cat 2>>/r/x'],
  ['cat "local://x"', 'cat /r/x'],
  ["cat 'local://x'", 'cat /r/x'],
  ["cat $'local://x'", 'cat /r/x'],
  ['cat "local://my notes.md"', "cat '/r/my notes.md'"],
  ['cat local://my\\ notes', "cat '/r/my notes'"],
  ['cat odd://x', "cat '/o'\\''x'"],
  ['cat local://a"b c"', 'cat /r/a"b c"'],
  ['cat local://$name.log', 'cat /r/$name.log'],
  ['cat local://logs/*.log', 'cat /r/logs/*.log'],
  ['touch local://{a,b}', 'touch /r/{a,b}'],
  ['x --file=local://x', 'x --file=/r/x'],
  ['x --file="local://x"', 'x --file=/r/x'],
  ['dd of=local://x', 'dd of=/r/x'],
  ['curl -d @local://x -F file=@local://y', 'curl -d @/r/x -F file=@/r/y'],
  ['X=local://x; export Y="local://y"', 'X=/r/x; export Y=/r/y'],
  ['a=(local://x "local://y")', 'a=(/r/x /r/y)'],
  ['for f in local://x local://y; do cat "$f"; done', 'for f in /r/x /r/y; do cat "$f"; done'],
  ['[[ -f local://x ]] && [ -f local://y ]', '[[ -f /r/x ]] && [ -f /r/y ]'],
  ['f() { cat local://x; }', 'f() { cat /r/x; }'],
  ['echo $(cat local://x)', 'echo $(cat /r/x)'],
  ['echo "a $(cat "local://x") b"', 'echo "a $(cat /r/x) b"'],
  ['diff <(sort local://x) local://y', 'diff <(sort /r/x) /r/y'],
  ['echo `cat local://x`', 'echo `cat /r/x`'],
  ['echo `cat odd://x`', "echo `cat '/o'\\\\''x'`"],
  [
    'cat <<EOF > local://x\n$(cat local://y)\nEOF\ncat local://z',
    'cat <<EOF > /r/x\n$(cat /r/y)\nEOF\ncat /r/z',
  ],
];

describe('in a command', () => {
  test.each(replaced)('%j becomes %j', async (command, result) => {
    expect(await expanded(command)).toBe(result);
  });

  test.each([
    ...['curl https://x.y/z', 'aws s3 cp s3://b/k .', 'cat file:///x', 'x other://y', 'scp h:/x .'],
    ...['curl https://x.y/?u=local://z', 'git clone git+local://x', 'cat ./local://x'],
    ...['git commit -m "see local://x"', "git commit -m 'artifact://3 is incomplete'"],
    ...['echo "local://x\nlocal://y"', 'echo "a: local://x"', 'cat "local://$name"'],
    ...['cat <<EOF\nlocal://x\nEOF', "cat <<'EOF'\n$(cat local://x)\nEOF", '# cat local://x'],
    // B25: what is compared with a pattern stays, as in `[[ ]]`.
    ...['case local://x in local://*) ls;; esac', '[[ local://x == local://* ]]'],
    ...['[[ $u == local://* ]]', 'case $u in local://*) ls;; esac', `echo \${x-local://y}`],
    ...['cat local://x "unterminated', 'if cat local://x'],
  ])('%j stays as it is', async (command) => {
    expect(await expanded(command)).toBe(command);
  });
});

describe('elsewhere', () => {
  const expand = (env: Record<string, string> | undefined, cwd?: string) =>
    expandUrls({ command: 'true', env, cwd }, registry);

  test('values of variables and the directory are paths as they are', async () => {
    const env = { A: "local://it's $HOME.md", B: 'see local://x', C: 'local://x is done' };
    expect(await expand(env, 'odd://a b')).toEqual({
      command: 'true',
      env: { ...env, A: "/r/it's $HOME.md" },
      cwd: "/o'a b",
    });
  });

  test('a variable may have any name that a shell can spell', async () => {
    const env = JSON.parse('{ "__proto__": "local://x" }');
    const { env: result = {} } = await expand(env);
    expect(Object.entries(result)).toEqual([['__proto__', '/r/x']]);
  });

  test('an environment without URLs is not changed', async () => {
    const env = { A: 'x' };
    expect((await expand(env)).env).toBe(env);
    expect(await expand(undefined)).toEqual({ command: 'true', env: undefined, cwd: undefined });
  });
});

describe('errors', () => {
  test.each(['skill', 'agent', 'artifact', 'memory', 'rule', 'plan'])(
    '%s:// without a resolver',
    async (scheme) => {
      await expect(expanded(`cat ${scheme}://x`)).rejects.toThrow(
        `Unsupported internal URL in bash command: ${scheme}://x\n` +
          `There is no resolver for ${scheme}:// here. Supported: local://, odd://.`,
      );
    },
  );

  test('a resolver that fails', async () => {
    const failing = createUrlRegistry({
      skill: {
        resolve() {
          throw new Error('Unknown skill: x.');
        },
      },
      plan: { resolve: () => ({ path: 'relative' }) },
    });
    const expand = (command: string) =>
      expandUrls({ command, env: undefined, cwd: undefined }, failing);
    await expect(expand('cat "skill://x"')).rejects.toThrow(
      'Cannot resolve skill:// URL in bash command: skill://x\nUnknown skill: x.',
    );
    await expect(expand('cat plan://x')).rejects.toThrow(
      'Cannot resolve plan:// URL in bash command: plan://x\n' +
        'Its resolver did not return an absolute path.',
    );
  });
});

// What shell text is made of, in any order.
const pieces = fc.constantFrom(
  ...[
    'cat',
    'echo',
    ' ',
    '\n',
    "'",
    '"',
    '`',
    '$(',
    ')',
    '(',
    '{',
    '}',
    '$x',
    '${x:-',
    ';',
    '&&',
    '|',
  ],
  ...['<<EOF', '\nEOF\n', '>', '<', '#', '\\', 'if', 'then', 'fi', '[[', ']]', '=', '@', 'x', '*'],
  ...['https://x/y', 's3://b', 'other://x', 'http:/x', ':/', '://', 'local:', '$((', '))'],
);

test('a command without internal URLs is never changed', async () => {
  const text = fc.oneof(
    fc.array(pieces, { maxLength: 30 }).map((all) => all.join('')),
    fc.string({ unit: 'binary' }),
  );
  await fc.assert(
    fc.asyncProperty(text, async (command) => {
      fc.pre(!/local:\/|odd:\/\/|(?:skill|agent|artifact|memory|rule|plan):\/\//.test(command));
      expect(await expanded(command)).toBe(command);
    }),
    { numRuns: 2000 },
  );
});

test('a broken command with URLs in it makes no trouble', async () => {
  const urls = fc.constantFrom('local://x', 'odd://y z', '"local://x"');
  const text = fc.array(fc.oneof(pieces, urls), { maxLength: 30 }).map((all) => all.join(''));
  await fc.assert(
    fc.asyncProperty(text, async (command) => void (await expanded(command))),
    {
      numRuns: 2000,
    },
  );
});

test('every character of a path survives the shell, wherever the URL stands', async () => {
  const odd = fc.constantFrom(...'\'"`$\\!*?[]{}()<>|&;#~ \t\n%=@^é中');
  const path = fc.string({ unit: fc.oneof(odd, odd, fc.string({ minLength: 1, maxLength: 1 })) });
  const forms: readonly [command: string, after: string][] = [
    ['printf %s local://x', ''],
    ['printf %s "local://x"', ''],
    ["printf %s 'local://x'", ''],
    ['X=local://x; printf %s "$X"', ''],
    ['printf %s "$(printf %s local://x)"', ''],
    ['printf %s "`printf %s local://x`"', ''],
    ['X=`printf %s "local://x"`; printf %s "$X"', ''],
    ['printf %s "$(echo "`printf %s local://x`")"', ''],
    ['printf %s "`printf %s "local://x"`"', ''],
    ['cat <<<local://x', '\n'],
    ['cat <<EOF\n$(printf %s local://x)\nEOF', '\n'],
    ['cat <<EOF\n`printf %s local://x`\nEOF', '\n'],
  ];
  // A path that gets out of its quotes may become a redirection.
  const cwd = mkdtempSync(join(tmpdir(), 'forkline-quotes-'));
  await fc.assert(
    fc.asyncProperty(path, async (name) => {
      fc.pre(!name.includes('\0'));
      // Substitutions take newlines at the end away.
      const resolved = `/${name}.`;
      const fixed = createUrlRegistry({ local: { resolve: () => ({ path: resolved }) } });
      const commands = await Promise.all(
        forms.map(([command]) => expandUrls({ command, env: undefined, cwd: undefined }, fixed)),
      );
      const script = commands.map(({ command }) => `${command}\nprintf '\\0'\n`).join('');
      const printed = execFileSync('/bin/bash', ['--norc', '-c', script], {
        cwd,
        encoding: 'utf8',
      });
      expect(printed.split('\0').slice(0, -1)).toEqual(forms.map(([, after]) => resolved + after));
    }),
    {
      numRuns: 300,
      // On a busy machine fewer runs are enough, and what fails is shown before the time is up.
      interruptAfterTimeLimit: 45_000,
      // Quotes in backquotes in quotes.
      examples: [['{">('], ['"'], ['a"b\\"c']],
    },
  );
  rmdirSync(cwd);
}, 60_000);
