import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createBashTool, LaunchError, run } from '../../src/index.js';
import { useBackground } from '../support/background.js';
import { quote } from '../support/commands.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { exited, failureOf, printed, whole } from '../support/results.js';
import { type Way, waysIn } from '../support/ways.js';

leavesNothingBehind();
const { folder } = useBackground();
let home = '';
beforeAll(() => {
  home = folder.file('home');
  mkdirSync(home);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.stubEnv('TMPDIR', folder.path);
});

/** What people have at the end of a start-up file, and what would harm most there. */
const ENDINGS = {
  'a plain command': 'true x y',
  'a function': 'export PATH=$HOME/bin:$PATH\ngreet() { :; }\ngreet whoami',
  'set -e': 'set -e\ntrue x',
  exit: 'exit 3',
  exec: 'exec true x',
  'output of its own': 'echo NOISE x',
  'a trap': "trap 'true x' DEBUG\ntrap 'echo bye' EXIT",
  'functions in place of what we might use':
    'eval() { echo HIJACKED; }\nmapfile() { echo HIJACKED; }\ncommand() { echo HIJACKED; }',
  'aliases in place of them':
    "shopt -s expand_aliases\nalias eval='echo HIJACKED' case='echo HIJACKED' command='echo HIJACKED'",
  'descriptors closed and taken': 'exec 3</dev/null 9<&-; cat <&3 >/dev/null; true x',
} as const;

const SIMPLE = 'echo one';
const COMPOUND = 'echo one; echo "$(echo two)" | cat; if true; then echo three; fi';
const LONG = `true ${quote('x'.repeat(100 * 1024))}; ${COMPOUND}`;
const TEXTS = { simple: SIMPLE, compound: COMPOUND, long: LONG };

const ways = (): readonly (readonly [string, Way])[] => waysIn(folder.path);
const names = waysIn('/').map(([name]) => name);

async function byEachWay(text: string, env: Record<string, string>, expected: string) {
  const seen: Record<string, string> = {};
  for (const [name, way] of ways()) seen[name] = await way(text, env);
  expect(seen).toEqual(Object.fromEntries(names.map((name) => [name, expected])));
}

/** What bash makes of it when nothing of ours is in between. */
function byBash(text: string, env: Record<string, string>): string {
  const inherited = { PATH: process.env.PATH ?? '', HOME: home };
  const { stdout } = spawnSync('/bin/bash', ['--norc', '-c', '--', text], {
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
  });
  return stdout;
}

describe.each(Object.entries(ENDINGS))('Z1: ~/.bashrc ends in %s', (_, rc) => {
  test.each(['SSH_CLIENT', 'SSH2_CLIENT'])(
    'a host with %s: the file is not read, and each command runs, in every way',
    async (name) => {
      writeFileSync(join(home, '.bashrc'), `echo READ\n${rc}\n`);
      vi.stubEnv(name, '127.0.0.1 40000 22');
      vi.stubEnv('SHLVL', '1');
      vi.stubEnv('HOME', home);
      await byEachWay(SIMPLE, {}, 'one\n');
      await byEachWay(COMPOUND, {}, 'one\ntwo\nthree\n');
      await byEachWay(LONG, {}, 'one\ntwo\nthree\n');
    },
  );
});

describe.each(Object.entries(ENDINGS))('Z2: BASH_ENV names a file that ends in %s', (_, rc) => {
  test.each(Object.entries(TEXTS))(
    'a %s command runs after it as by bash itself, in every way',
    async (_length, text) => {
      const env = { BASH_ENV: folder.file('env file'), HOME: home };
      writeFileSync(env.BASH_ENV, `${rc}\n`);
      const expected = byBash(text, env);
      const seen: Record<string, string> = {};
      for (const [name, way] of ways()) {
        // A shell that ends at once reads no snapshot, which this way waits to see.
        if (name.startsWith('workspace with a snapshot') && !expected.includes('one')) continue;
        seen[name] = await way(text, env);
      }
      expect(seen).toEqual(Object.fromEntries(Object.keys(seen).map((name) => [name, expected])));
    },
  );
});

test.each([
  ['SHELLOPTS', 'braceexpand:hashall:pipefail'],
  ['SHELLOPTS', 'errexit:nounset'],
  ['SHELLOPTS', 'posix'],
  ['POSIXLY_CORRECT', '1'],
  ['BASH_COMPAT', '4.3'],
  ['ENV', '/no/such/file'],
  ['PS4', '$(echo HIJACKED >&1)'],
])('Z2: %s=%s from the caller reaches a command that is itself', async (name, value) => {
  const text = `${COMPOUND}; echo $SHELLOPTS`;
  const env = { [name]: value };
  const { stdout } = await run(text, { env, streams: 'separate' });
  expect(whole(stdout)).toBe(byBash(text, env));
  await byEachWay(SIMPLE, env, 'one\n');
  await byEachWay(COMPOUND, env, 'one\ntwo\nthree\n');
});

test('Z2: tracing options show only the command, as bash itself does', async () => {
  // No pipeline: its members would trace in any order.
  const text = 'echo one; X=$(echo two); if true; then echo "$X"; fi';
  for (const SHELLOPTS of ['xtrace', 'verbose']) {
    const merged = spawnSync(
      '/bin/sh',
      ['-c', 'exec "$@" 2>&1', 'sh', '/bin/bash', '--norc', '-c', text],
      {
        env: { PATH: process.env.PATH ?? '', SHELLOPTS },
        encoding: 'utf8',
      },
    );
    expect(printed(await run(text, { env: { SHELLOPTS } }))).toBe(merged.stdout);
  }
});

test("Z2: exported functions of the caller reach the command and replace none of forkline's commands", async () => {
  const env = {
    'BASH_FUNC_eval%%': '() { echo HIJACKED; }',
    'BASH_FUNC_command%%': '() { echo HIJACKED; }',
    'BASH_FUNC_mapfile%%': '() { echo HIJACKED; }',
    'BASH_FUNC_greet%%': '() { echo hello; }',
  };
  const seen: Record<string, string> = {};
  for (const [name, way] of ways()) {
    // A program in front takes no function.
    const first = name === 'workspace with a prefix' ? 'true' : 'true; greet';
    seen[name] = await way(`${first}; ${COMPOUND}`, env);
  }
  const expected = names.map((name) => [name, 'hello\none\ntwo\nthree\n']);
  expect({ ...seen, 'workspace with a prefix': 'hello\none\ntwo\nthree\n' }).toEqual(
    Object.fromEntries(expected),
  );
  expect(seen['workspace with a prefix']).toBe('one\ntwo\nthree\n');
});

test('Z2: a text that could not be passed safely is refused, by name and length', async () => {
  const text = `: ${'x'.repeat(200_000)}; echo one`;
  const env = { BASH_ENV: '/dev/null' };
  const error = await failureOf(run(text, { env }));
  expect(error).toBeInstanceOf(LaunchError);
  expect(error).toMatchObject({
    code: 'E2BIG',
    message: expect.stringContaining(
      'BASH_ENV and a command of 200012 bytes (with BASH_ENV, at most 131071)',
    ),
  });
  expect(printed(await run(text))).toBe('one\n');
  expect(printed(await run(text, { env: { SHELLOPTS: 'pipefail' } }))).toBe('one\n');
});

test('Z2: with BASH_ENV a followed shell still reports its directory', async () => {
  const env = { BASH_ENV: '/dev/null' };
  for (const text of ['sleep 0', 'cd /usr && sleep 0', 'cd /usr; cat <<E\nE']) {
    const { directory, outcome } = await run(text, { env, followDirectory: true, cwd: '/' });
    expect([outcome, directory]).toEqual([exited(0), text.includes('/usr') ? '/usr' : '/']);
  }
});

test('a bash that is a script around bash runs the command, and so does one behind links', async () => {
  const wrapper = folder.file('bash');
  writeFileSync(wrapper, '#!/bin/bash\ntrue a b\nexec /bin/bash "$@"\n', { mode: 0o755 });
  for (const text of [SIMPLE, COMPOUND, LONG]) {
    const result = await run(text, { shell: [wrapper] });
    expect(printed(result)).toBe(text === SIMPLE ? 'one\n' : 'one\ntwo\nthree\n');
  }
});

test('a long text runs by sh whatever `cat` the command would find, or the error says that it did not', async () => {
  const text = `: ${'x'.repeat(200_000)}; echo one`;
  const bin = folder.file('bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'cat'), '#!/bin/sh\necho echo HIJACKED\n', { mode: 0o755 });
  const result = await run(text, { shell: ['/bin/sh'], env: { PATH: bin } });
  expect(printed(result)).toBe('one\n');
});

/** Shells with start-up files that they read always, or that others take for bash. */
const OTHERS = [
  ['/usr/bin/zsh', '.zshenv', 'echo READ\nexit 3\n'],
  ['/usr/bin/fish', '.config/fish/config.fish', 'echo READ\nexit 3\n'],
  ['/usr/bin/tcsh', '.cshrc', 'echo READ\nexit 3\n'],
  ['/bin/dash', '.profile', 'echo READ\n'],
  ['/bin/rbash', '.bashrc', 'echo READ\nexit 3\n'],
] as const;

test.each(OTHERS.filter(([shell]) => existsSync(shell)))(
  '%s reads no %s, and runs the command, followed or not',
  async (shell, file, contents) => {
    const path = join(folder.file(`home of ${basename(shell)}`), file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
    const env = {
      HOME: folder.file(`home of ${basename(shell)}`),
      SSH_CLIENT: '127.0.0.1 40000 22',
      ENV: path,
    };
    for (const text of ['echo one', 'echo one; echo two', '-x']) {
      for (const followDirectory of [false, true]) {
        const result = await run(text, {
          shell: [shell],
          env,
          followDirectory,
          streams: 'separate',
        });
        const expected = { 'echo one': 'one\n', 'echo one; echo two': 'one\ntwo\n', '-x': '' }[
          text
        ];
        expect([text, followDirectory, whole(result.stdout)]).toEqual([
          text,
          followDirectory,
          expected,
        ]);
      }
    }
  },
);

test('a model cannot run anything before its own command either', async () => {
  const tool = createBashTool({ contract: 'workspace', cwd: folder.path });
  const file = folder.file('of a model');
  writeFileSync(file, 'true x y\n');
  const answer = await tool.execute({ command: COMPOUND, env: { BASH_ENV: file } });
  expect(answer.content[0]?.text).toMatch(/^one\ntwo\nthree\n/);
  await tool.dispose();
});
