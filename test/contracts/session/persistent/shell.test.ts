import { readdirSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ToolAbortError } from '../../../../src/index.js';
import { longSleep, sleeping } from '../../../support/commands.js';
import { startHost } from '../../../support/hosts.js';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { eventually } from '../../../support/processes.js';
import { failureOf } from '../../../support/results.js';
import { data, useSessionTools } from '../../../support/session.js';
import { textOf } from '../../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);
const newTool = (options: Parameters<typeof newSession>[0] = {}) =>
  newSession({ persistent: true, ...options });

async function messageOf(call: Promise<unknown>): Promise<string> {
  const error = await failureOf(call);
  return error instanceof Error ? error.message : '';
}

/** The private directories of a host's shells. */
function directoriesOf(pid: number | undefined): string[] {
  const home = join(tmpdir(), `forkline-${process.getuid?.()}`);
  const own = readdirSync(home).filter((name) => name.startsWith(`shell-${pid}-`));
  return own.map((name) => join(home, name));
}

const GONE = 'variables and functions are gone';

describe('what lasts from call to call', () => {
  test.each([
    ['variables', 'x=1; export y=2', "echo $x; sh -c 'echo $y'", '1\n2\n'],
    ['functions', 'f() { echo f $1; }', 'f 1', 'f 1\n'],
    ['arrays', 'a=(1 "2 3")', 'declare -p a', 'declare -a a=([0]="1" [1]="2 3")\n'],
    ['options of set', 'set -f', 'echo *', '*\n'],
    ['options of shopt', 'shopt -s extglob', 'case ab in @(ab|c)) echo yes;; esac', 'yes\n'],
    ['aliases', "shopt -s expand_aliases; alias q='echo alias'", 'q', 'alias\n'],
    ['the directory', 'mkdir -p d; cd d', 'pwd', `d\n`],
    ['the directory before', 'cd /usr; cd /etc', 'cd -', '/usr\n'],
    ['the exit code', '(exit 7)', 'echo $?', '7\n'],
    ['umask', 'umask 027', 'umask', '0027\n'],
    ['limits', 'ulimit -n 99', 'ulimit -n', '99\n'],
    ['descriptors from 3 on', 'exec 3<<<hi', 'cat <&3', 'hi\n'],
    ['stdin', 'exec <<<hi', 'cat', 'hi\n'],
    ['positional parameters', 'set -- a b', 'echo $2', 'b\n'],
    ['the pid of the last job', 'true & p=$!; wait', '[[ $! == $p ]] && echo same', 'same\n'],
  ])('%s', async (_, first, second, expected) => {
    const tool = newTool();
    await tool.execute({ command: first });
    const { stdout } = await data(tool, second);
    expect(String(stdout)).toContain(expected);
  });

  test("traps: that of EXIT runs once, when the shell exits, and its output is the call's", async () => {
    const tool = newTool();
    expect((await data(tool, "trap 'echo bye' EXIT")).stdout).toBe('');
    expect(await data(tool, 'exit 3')).toMatchObject({ stdout: 'bye\n', exit_code: 3 });
  });

  test('jobs: one call starts it, another waits for it', async () => {
    const tool = newTool();
    await tool.execute({ command: '(exit 9) >/dev/null 2>&1 &' });
    expect(await data(tool, 'wait $!; echo $?; jobs; wait')).toMatchObject({ stdout: '9\n' });
  });
});

describe('the end of a shell', () => {
  test.each([
    ['exit 3', { exit_code: 3 }],
    ['exec true', { exit_code: 0 }],
    ['exec sh -c "echo hi; exit 6"', { exit_code: 6, stdout: 'hi\n' }],
    ['kill -9 $$', { exit_code: null, signal: 'SIGKILL' }],
    ['kill -TERM $$', { exit_code: null, signal: 'SIGTERM' }],
    ['set -e; false; echo not here', { exit_code: 1, stdout: '' }],
    ['set -u; echo $nothing', { exit_code: 1 }],
  ])(
    'by the command itself is told, and the next has a fresh one where it was: %s',
    async (command, expected) => {
      const tool = newTool();
      await tool.execute({ command: 'x=1; cd /usr' });
      const answer = await data(tool, command);
      expect(answer).toMatchObject({ ...expected, cwd: '/usr' });
      expect(answer.notices).toEqual([
        `The shell has ended; the next command starts a new one in /usr: ${GONE}.`,
      ]);
      const next = await data(tool, 'echo x$x; pwd');
      expect(next).toMatchObject({ stdout: 'x\n/usr\n' });
      expect(next.notices).toBeUndefined();
    },
  );

  test('by a timeout takes everything along, tells so and keeps the directory', async () => {
    const tool = newTool();
    const answer = await tool.execute({
      command: `cd /usr; echo before; ${longSleep(12)} & ${longSleep(12)}`,
      timeout: 300,
    });
    expect(answer.structured).toMatchObject({ stdout: 'before\n', timed_out: true, cwd: '/usr' });
    expect(textOf(answer)).toContain(
      `The shell was ended; the next command starts a new one in /usr: ${GONE}.`,
    );
    expect(sleeping(12)).toEqual([]);
    expect(await data(tool, 'pwd')).toMatchObject({ stdout: '/usr\n' });
  });

  test('by a cancelled call likewise', async () => {
    const tool = newTool();
    const controller = new AbortController();
    const call = failureOf(
      tool.execute({ command: `echo before; ${longSleep(13)}` }, { signal: controller.signal }),
    );
    await eventually(() => expect(sleeping(13)).toHaveLength(1));
    controller.abort();
    const error = await call;
    expect(error).toBeInstanceOf(ToolAbortError);
    expect((error as Error).message).toMatch(/^before\n\nThe shell was ended; /);
    expect(sleeping(13)).toEqual([]);
    const next = await data(tool, 'echo hi');
    expect(next).toMatchObject({ stdout: 'hi\n' });
    expect(String(next.notices)).toMatch(/^The shell was ended with the call before, which was/);
    expect((await data(tool, 'true')).notices).toBeUndefined();
  });

  test.each(['at once', 'long before'])(
    'between two calls is told by the next, which runs in a new one: %s',
    async (when) => {
      const tool = newTool();
      const { stdout } = await data(tool, 'cd /usr; echo $$');
      process.kill(Number(stdout), 'SIGKILL');
      if (when === 'long before') await sleep(200);
      expect(await data(tool, 'echo hi')).toMatchObject({
        stdout: 'hi\n',
        cwd: '/usr',
        notices: [
          `The shell had ended since the last command (killed by SIGKILL); this one ran in a new one, from /usr on: ${GONE}.`,
        ],
      });
    },
  );

  test('is a call: restart, alone or before a command', async () => {
    const tool = newTool();
    await tool.execute({ command: `x=1; cd /usr; ${longSleep(14)} >/dev/null 2>&1 &` });
    const answer = await tool.execute({ restart: true });
    expect(textOf(answer)).toMatch(/^The shell was restarted in \/usr: /);
    expect(answer.structured).toMatchObject({ exit_code: null, status: 'completed', cwd: '/usr' });
    expect(sleeping(14)).toEqual([]);
    await tool.execute({ command: 'y=1' });
    const next = await data(tool, 'echo x$x$y; pwd', { restart: true });
    expect(next).toMatchObject({ stdout: 'x\n/usr\n' });
    expect(next.notices).toHaveLength(1);
  });

  test("comes with the tool's: nothing runs after dispose(), whatever it ignores", async () => {
    const tool = newTool({ graceMs: 200 });
    await tool.execute({ command: `trap '' TERM; ${longSleep(15)} >/dev/null 2>&1 &` });
    await tool.dispose();
    expect(sleeping(15)).toEqual([]);
  });

  test('in a directory that is gone is an error that says so, and goes back to the first', async () => {
    const tool = newTool();
    await tool.execute({ command: 'mkdir gone; cd gone; rmdir ../gone; exit' });
    expect(await messageOf(tool.execute({ command: 'pwd' }))).toBe(
      `Working directory does not exist: ${folder.path}/gone. This command was not run; the next one will start in ${folder.path}, as at first.`,
    );
    expect(await data(tool, 'pwd')).toMatchObject({ stdout: `${folder.path}\n` });
  });

  test.each(['by itself, for a shell that has nothing to do holds it up no longer', 'by SIGKILL'])(
    'comes with that of its host: %s',
    async (how) => {
      const killed = how === 'by SIGKILL';
      const command = `${longSleep(16)} >/dev/null 2>&1 & echo hi`;
      const host = startHost('persistent', { args: [command, killed ? 'stay' : ''] });
      expect(await host.next()).toMatchObject({ stdout: 'hi\n', exit_code: 0 });
      if (killed) host.child.kill('SIGKILL');
      expect(await host.ended).toEqual(
        killed ? { code: null, signal: 'SIGKILL' } : { code: 0, signal: null },
      );
      await eventually(() => expect(sleeping(16)).toEqual([]));
      // A host that was killed leaves its directory, with nothing in it, to one that comes later.
      const left = directoriesOf(host.child.pid);
      expect(left).toHaveLength(killed ? 1 : 0);
      for (const path of left) rmdirSync(path);
    },
  );
});
