import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { createBashTool, run } from '../../src/index.js';
import { namespaces, startHost } from '../support/hosts.js';
import { leavesNothingBehind, useFolder, useOwners } from '../support/leftovers.js';
import { exited, failureOf, printed } from '../support/results.js';

leavesNothingBehind();
const folder = useFolder();
const newOwner = useOwners();
afterEach(() => {
  vi.unstubAllEnvs();
});

test('E1: set -e ends the command at the first failure', async () => {
  const result = await run('set -e\nfalse\necho survived');
  expect(result.outcome).toEqual(exited(1));
  expect(printed(result)).toBe('');
});

test('all visible effects of the wrapper on a command are in the list of differences (N13)', async () => {
  const text = 'printf "%s\\n" "$_" "$BASH_EXECUTION_STRING"; :';
  const [first, ...rest] = printed(await run(text)).split('\n');
  expect(first).toBe(`@:${text}`);
  expect(rest.join('\n')).toMatch(/^case \$_ in @:\*\)eval /);
  const engine = readFileSync('docs/engine.md', 'utf8').replace(/\s+/g, ' ');
  expect(engine).toContain(
    'the first `$_` is `@:` and the text, and `$BASH_EXECUTION_STRING` has our words',
  );
});

test('E4: a here-document at the very end is read exactly', async () => {
  const result = await run("cat > f <<'X'\nhello\nX", { cwd: folder.path });
  expect(result.outcome).toEqual(exited(0));
  expect(readFileSync(folder.file('f'), 'utf8')).toBe('hello\n');
});

test.each(['rg "a ` b"', 'echo "abc', "echo 'abc", 'echo $(', 'if true; then'])(
  'E5: %s fails at once with what bash says of it, and the next command works',
  async (command) => {
    const result = await run(command);
    expect(result.outcome).toEqual(exited(2));
    expect(printed(result)).toMatch(/^bash: .*(unexpected|syntax error)/);
    expect(printed(await run('echo fine'))).toBe('fine\n');
  },
);

test.each([
  'false',
  'false || exit 7',
  'exec true',
  'exec false',
  'return 3',
  'exit',
  'true; exit',
  'no-such-program-here',
  '/etc/passwd',
  '/',
  'f() { return 5; }; f',
  'set -u; echo $undefined',
  'set -o pipefail; false | true',
  '! true',
  ': $((1 / 0))',
  'trap "exit 9" EXIT; exit 1',
  'kill -TERM $$; sleep 1',
  '(exit 6)',
  'exit 3 # with a comment',
  'false \\',
  'true &&\nfalse',
])('E7: %s ends as it does in bash', async (command) => {
  const bash = spawnSync('/bin/bash', ['--norc', '-c', '--', command], { stdio: 'ignore' });
  const { outcome } = await run(command);
  expect(outcome).toEqual(
    bash.signal === null ? exited(Number(bash.status)) : { kind: 'signaled', signal: bash.signal },
  );
});

test.each(['sleep 1 &', 'sleep 1 & ', 'sleep 1 &\n', 'true & # go'])(
  'E8: %j is no syntax error',
  async (command) => {
    const result = await run(command, { owner: newOwner() });
    expect(result.outcome).toEqual(exited(0));
    expect(printed(result)).toBe('');
  },
);

test.each(['scrubbed', 'all'] as const)(
  'E9: variables that control a shell are not inherited from the host, %s',
  async (inheritEnv) => {
    const hijack = folder.file('hijack');
    writeFileSync(hijack, "alias cd='echo HIJACK'; echo HIJACK; cd() { echo HIJACK; }");
    vi.stubEnv('BASH_ENV', hijack);
    vi.stubEnv('ENV', hijack);
    vi.stubEnv('BASH_FUNC_cd%%', '() { echo HIJACK; }');
    vi.stubEnv('SHELLOPTS', 'noexec');
    vi.stubEnv('PROMPT_COMMAND', 'echo HIJACK');
    for (const shell of ['/bin/bash', '/bin/sh']) {
      const result = await run('cd /usr; pwd', { inheritEnv, shell: [shell] });
      expect(printed(result)).toBe('/usr\n');
    }
  },
);

/** Hides the shells of these names in a namespace of its own, and starts what follows there. */
function without(...names: string[]) {
  const programs = dirname(realpathSync('/bin/bash'));
  const [real, fake] = [folder.file('real'), folder.file(`without-${names.join('-')}`)];
  mkdirSync(real, { recursive: true });
  mkdirSync(fake);
  const hide = `set -e
    mount --bind ${programs} ${real}
    ln -s ${real}/* ${fake}/
    cd ${fake} && rm ${names.join(' ')} && cd /
    mount --bind ${fake} ${programs}
    exec "$@"`;
  return namespaces('-m', 'perl', '-e', 'exec "/bin/sh", "-c", @ARGV', hide, 'sh');
}

async function answerOf(under: string[], command: string, env: NodeJS.ProcessEnv = {}) {
  const host = startHost('commands', { under, env });
  const answer = await host.run(command);
  host.child.stdin?.end();
  await host.ended;
  return answer;
}

const WHICH = '[ -z "$BASH_VERSION" ] || echo bash; echo "$0"';

test('E12: without /bin/bash, the bash on PATH is taken', async () => {
  const elsewhere = folder.file('elsewhere');
  mkdirSync(elsewhere);
  copyFileSync('/bin/bash', `${elsewhere}/bash`);
  const env = { PATH: `${elsewhere}:${process.env.PATH}` };
  const { result } = await answerOf(without('bash'), WHICH, env);
  expect(result && printed(result)).toBe('bash\nbash\n');
});

test('E12: without any bash, sh is taken', async () => {
  const env = { PATH: '/usr/bin:/bin' };
  const { result } = await answerOf(without('bash', 'rbash'), WHICH, env);
  expect(result && printed(result)).toBe('sh\n');
});

test('E12: without any shell, the error says which were tried', async () => {
  const env = { PATH: '/usr/bin:/bin' };
  const { error } = await answerOf(without('bash', 'sh'), 'true', env);
  expect(error).toEqual({
    name: 'LaunchError',
    code: 'ENOENT',
    step: 'exec',
    message: expect.stringContaining("'/bin/bash' or '/usr/bin/bash' or '/bin/sh'"),
  });
});

test.each([
  '__FORKLINE_END__',
  '\u001e0\u001e',
  'EOF',
  '--',
  '$_',
  'FORKLINE_MARK=1-1.1.1.',
  '[exit 0]',
])('E13: %j is printed unchanged', async (text) => {
  const result = await run(`echo '${text}'; echo '${text}' >&2`);
  expect(printed(result)).toBe(`${text}\n${text}\n`);
});

test.each([['/bin/bash'], ['/bin/sh']])(
  'E14: %s takes a text like an option for a command',
  async (shell) => {
    const result = await run('-e', { shell: [shell] });
    expect(result.outcome).toEqual(exited(127));
    expect(printed(result)).toMatch(/-e: (command )?not found\n$/);
  },
);

test('E14: a comment is a success without output', async () => {
  const result = await run('# only a comment');
  expect(result.outcome).toEqual(exited(0));
  expect(printed(result)).toBe('');
});

test('E14: a blank command is an input error, of run() and of the contract', async () => {
  expect(await failureOf(run('\n\n'))).toMatchObject({
    name: 'InputError',
    message: 'command: expected a shell command, got "\\n\\n"',
  });
  const tool = createBashTool({ contract: 'workspace', cwd: folder.path });
  expect(await failureOf(tool.execute({ command: '\n\n' }))).toMatchObject({
    kind: 'input',
    message: 'command: expected a shell command, got "\\n\\n"',
  });
});
