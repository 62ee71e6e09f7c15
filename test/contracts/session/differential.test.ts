import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { fc } from '../../support/properties.js';
import { data, useSessionTools } from '../../support/session.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);

/**
 * Pieces of commands; those that end in half a construct swallow what follows them. In the
 * background go only pieces that print nothing: who is first would be a matter of luck.
 */
const PIECES = [
  ['true', 'false', 'echo a', 'echo b >&2', 'printf c', '(echo d; exit 5)', 'false | true', '!'],
  ['cd d', 'cd ..', 'cd /', 'cd nowhere', 'cd -- -x', 'cd', 'cd "$PWD/d"', 'HOME=/usr; cd', 'cd -'],
  [
    'pushd d >/dev/null',
    'mkdir -p n; cd n',
    'cd d && rmdir ../d',
    '(cd d)',
    '{ cd d & }',
    '{ cd d; }',
  ],
  ['f() { cd d; return 4; }; f', 'cd() { :; }', 'pwd() { :; }', 'unset PWD', 'readonly PWD'],
  ['exit 3', 'exec true', 'exec false', 'return 2', 'exec sh -c "cd d; exit 6"', 'exit 300'],
  ['set -e', 'set -u', 'set -o pipefail', 'set -n', 'echo $undefined', ': $((1 / 0))'],
  ["trap 'echo bye' EXIT", 'trap "exit 9" EXIT', 'trap - EXIT', 'trap "cd /" EXIT'],
  ['kill -TERM $$', 'kill -9 $$', '{ sleep .02 & }', 'wait'],
  ['echo "abc', "echo 'abc", 'echo $(', 'if true; then', 'fi', 'echo x \\', '# comment', ')', ';;'],
  ['cat <<X\nhi\nX', 'cat <<X\nhi', 'cat <<"X"\n$hi\nX\n', 'echo "`echo y', '\n', '&&'],
  ['exec 1>&-', 'exec 2>&-', 'exec 0<&-', 'exec 3>&-', 'ulimit -n 4'],
  [
    'for i in {3..60}; do eval "exec $i>/dev/null"; done',
    '[[ -d d ]]',
    'let x=0',
    'alias q=echo\nq',
  ],
].flat();

/**
 * The portable engine follows the directory by a trap on EXIT. With one, bash ends after the builtin that
 * gave it a signal, so `kill` also complains of the words that follow (docs/portable.md).
 */
const GOES_ON_AFTER_KILL = /kill -TERM \$\$ +[^\s;&|]/;
const isPortable = process.env.FORKLINE_ENGINE === 'portable';

const command = fc
  .tuple(
    fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 5 }),
    fc.array(fc.constantFrom('; ', '\n', ' && ', ' || ', ' '), { minLength: 5, maxLength: 5 }),
  )
  .map(([pieces, joints]) => pieces.map((piece, index) => piece + (joints[index] ?? '')).join(''))
  .filter((text) => text.trim() !== '' && !(isPortable && GOES_ON_AFTER_KILL.test(text)));

/** The same place each time, with nothing in it but what the commands expect. */
function freshPlace(): string {
  const place = folder.file('place');
  rmSync(place, { recursive: true, force: true });
  mkdirSync(`${place}/d/d`, { recursive: true });
  mkdirSync(`${place}/-x`);
  return place;
}

function plainBash(text: string, cwd: string, env: NodeJS.ProcessEnv) {
  const { status, signal, stdout, stderr } = spawnSync('/bin/bash', ['--norc', '-c', '--', text], {
    argv0: 'bash',
    cwd,
    env: { ...env, PWD: cwd },
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  });
  return {
    exit_code: status,
    signal: signal ?? undefined,
    stdout: comparable(stdout),
    stderr: comparable(stderr),
  };
}

/** Where plain bash ends, if nothing keeps it from telling. */
function plainDirectory(text: string, cwd: string, env: NodeJS.ProcessEnv): string | undefined {
  const report = folder.file('report');
  rmSync(report, { force: true });
  if (/trap|exec|pwd\(\)|kill/.test(text)) return undefined;
  plainBash(`trap 'command pwd -P > "${report}"' EXIT; ${text}`, cwd, env);
  try {
    return readFileSync(report, 'utf8').slice(0, -1) || undefined;
  } catch {
    return undefined;
  }
}

/** Both say which line is wrong; only the name of what reads it differs, and the process's id. */
const comparable = (output: unknown) =>
  String(output)
    .replaceAll('bash: eval: line', 'bash: -c: line')
    .replaceAll(/\b\d{3,}\b/g, 'PID');

/**
 * With a quote left open at its end, plain bash has the exit code of the line before, if that has
 * failed, and else 2; what it is given by `eval` always has 2.
 */
function leavesQuoteOpen(text: string): boolean {
  const { stderr } = spawnSync('/bin/bash', ['--norc', '-n', '-c', '--', text], {
    encoding: 'utf8',
  });
  return stderr.includes('EOF while looking for matching');
}

test('exit code, output and directory are what plain bash gives, whatever the command', async () => {
  const env = await commandEnvironment();
  await fc.assert(
    fc.asyncProperty(command, async (text) => {
      const place = freshPlace();
      const expected = plainBash(text, place, env);
      const directory = plainDirectory(text, freshPlace(), env);
      const tool = newSession({ cwd: freshPlace() });
      const { exit_code, signal, stdout, stderr, cwd } = await data(tool, text);
      await tool.dispose();
      const given = {
        exit_code: leavesQuoteOpen(text) && exit_code === 2 ? expected.exit_code : exit_code,
        signal,
        stdout: comparable(stdout),
        stderr: comparable(stderr),
      };
      expect(given).toEqual(expected);
      if (directory !== undefined) expect(cwd).toBe(directory);
    }),
    { numRuns: 100 },
  );
}, 300_000);

/** What commands of a session have around them. */
async function commandEnvironment(): Promise<NodeJS.ProcessEnv> {
  const { stdout } = await data(newSession(), 'env -0 | tr "\\0\\n" "\\n "');
  const entries = String(stdout).trimEnd().split('\n');
  const pairs = entries.map((entry) => [
    entry.slice(0, entry.indexOf('=')),
    entry.slice(entry.indexOf('=') + 1),
  ]);
  const { _, SHLVL, ...env } = Object.fromEntries(pairs);
  return env;
}
