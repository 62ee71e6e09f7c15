import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  type Background,
  backgroundIn,
  endingOf,
  outputOf,
  useBackground,
} from '../support/background.js';
import { longSleep, sleeping } from '../support/commands.js';
import { type Host, type HostOptions, namespaces, startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import {
  childrenOf,
  eventually,
  isGone,
  lives,
  openDescriptors,
  parentOf,
} from '../support/processes.js';

// B12: a detached background command goes on whatever becomes of the agent that started it, and
// gets its completion line. The agents here are processes of their own, and end in every way.
leavesNothingBehind();
const background = useBackground();

interface Answer {
  readonly text?: string;
  readonly error?: string;
}

function startAgent(options: object = {}, how: HostOptions = {}): Host {
  const args = [JSON.stringify({ cwd: background.folder.path, ...options })];
  return startHost('modes', { args, env: { TMPDIR: background.folder.path }, ...how });
}

function send(agent: Host, command: string, mode = 'default'): void {
  agent.child.stdin?.write(`${JSON.stringify({ command, mode })}\n`);
}

async function startIn(agent: Host, command: string): Promise<Background> {
  send(agent, command, 'background');
  const { text = '', error } = await agent.next<Answer>();
  expect(error).toBeUndefined();
  return background.note(text);
}

/** A command that waits for a file, so that it ends after whatever the test does before. */
const upTo = (file: string, then: string): string =>
  `echo begin; until [ -e ${file} ]; do sleep 0.05; done; ${then}`;

const go = (file: string): void => writeFileSync(background.folder.file(file), '');

/** What makes a small disk for a folder that is to be made first. */
function onSmallDisk(disk: string): readonly string[] {
  mkdirSync(disk);
  const mount = `mount -t tmpfs -o size=64k none ${disk} && exec "$@"`;
  return namespaces('-m', 'sh', '-c', mount, 'sh');
}

test.each([
  ['by its output', () => "head -c 300000 /dev/zero | tr '\\0' x; exit 3"],
  ['by other files', (disk: string) => `cat /dev/zero >${disk}/other; exit 3`],
])('D7: a disk that is filled %s has room for the line', async (how, fill) => {
  const disk = background.folder.file(how.replaceAll(' ', '-'));
  const agent = startAgent(
    {},
    { under: onSmallDisk(disk), env: { TMPDIR: disk, XDG_STATE_HOME: disk } },
  );
  send(agent, fill(disk), 'background');
  const { text = '' } = await agent.next<Answer>();
  const { outputFile } = backgroundIn(text);
  // The disk is there for the agent alone.
  send(agent, `until grep -a 'background process' ${outputFile}; do sleep 0.05; done`);
  expect(await agent.next<Answer>()).toEqual({
    text: '[background process failed: exit status: 3]\n',
  });
  agent.child.stdin?.end();
  await agent.ended;
});

test('the error for missing space for its output says so', async () => {
  const place = background.folder.file('read-only');
  mkdirSync(place);
  const mount = `mount -t tmpfs -o ro none ${place} && exec "$@"`;
  const under = namespaces('-m', 'sh', '-c', mount, 'sh');
  const agent = startAgent({}, { under, env: { TMPDIR: place, XDG_STATE_HOME: place } });
  send(agent, 'true', 'background');
  expect((await agent.next<Answer>()).error).toMatch(/no directory for its output: EROFS/);
  send(agent, 'echo foreground');
  expect(await agent.next<Answer>()).toEqual({ text: 'foreground\n' });
  agent.child.stdin?.end();
  await agent.ended;
});

test('the path of its output is absolute, for any TMPDIR', async () => {
  const place = background.folder.file('temporary');
  mkdirSync(place);
  const missing = background.folder.file('no home');
  const env = { TMPDIR: relative(process.cwd(), place), XDG_STATE_HOME: 'relative', HOME: missing };
  const agent = startAgent({}, { env });
  const started = await startIn(agent, 'echo hi');
  expect(started.outputFile.startsWith(`${place}/`)).toBe(true);
  expect(await endingOf(started)).toBe('hi\n\n\n[background process completed]\n');
  agent.child.stdin?.end();
  await agent.ended;
});

test("a relative directory is an error if the host's own was removed", async () => {
  const gone = background.folder.file('gone');
  const remove = `mkdir ${gone} && cd ${gone} && rmdir ${gone} && exec "$@"`;
  const tool = `createBashTool({ contract: 'modes', cwd: () => '.' })`;
  const index = new URL('../../dist/index.js', import.meta.url);
  const script = `import('${index}').then(({ createBashTool }) => ${tool}).catch((error) => console.log(String(error)))`;
  const { stdout } = spawnSync('sh', ['-c', remove, 'sh', process.execPath, '-e', script]);
  expect(String(stdout)).toBe(
    'InputError: cwd: expected an absolute path, since the host\'s own directory was removed, got "."\n',
  );
});

test('B12: SIGKILL of the agent ends its foreground command, and the background one goes on', async () => {
  const agent = startAgent();
  const started = await startIn(agent, upTo('killed', 'echo end; exit 4'));
  send(agent, longSleep(340));
  await eventually(() => expect(sleeping(340)).toHaveLength(1));
  agent.child.kill('SIGKILL');
  expect(await agent.ended).toEqual({ code: null, signal: 'SIGKILL' });
  await eventually(() => expect(sleeping(340)).toEqual([]));
  // Longer than the agent's own keeper takes for what it ends.
  await sleep(1000);
  expect(lives(started.pid)).toBe(true);
  expect(outputOf(started)).toBe('begin\n');
  go('killed');
  expect(await endingOf(started)).toBe(
    'begin\nend\n\n\n[background process failed: exit status: 4]\n',
  );
});

test.each(['SIGTERM', 'SIGHUP', 'SIGSEGV', 'SIGINT'] as const)(
  'B12: it goes on when the agent and its process group get %s',
  async (signal) => {
    // Leads no group, so that setsid execs the agent in its own place.
    const agent = startAgent({}, { under: ['setsid'] });
    const started = await startIn(agent, upTo(signal, 'echo end'));
    process.kill(-Number(agent.child.pid), signal);
    await agent.ended;
    go(signal);
    expect(await endingOf(started)).toBe('begin\nend\n\n\n[background process completed]\n');
  },
);

test('B12: it goes on when the agent calls process.exit()', async () => {
  const agent = startAgent();
  const started = await startIn(agent, upTo('exited', 'echo end'));
  agent.child.stdin?.write('exit\n');
  expect(await agent.ended).toEqual({ code: 0, signal: null });
  go('exited');
  expect(await endingOf(started)).toBe('begin\nend\n\n\n[background process completed]\n');
});

test('B12: it goes on when the terminal of the agent hangs up', async () => {
  const onATerminal = ['python3', '-c', 'import pty, sys; pty.spawn(sys.argv[1:])'];
  const agent = startAgent({}, { under: onATerminal });
  // The terminal shows the input as well.
  send(agent, upTo('hung-up', 'echo end'), 'background');
  await agent.next();
  const { text = '' } = await agent.next<Answer>();
  const started = background.note(text);
  // The other side of the terminal goes with python.
  agent.child.kill('SIGKILL');
  await agent.ended;
  go('hung-up');
  expect(await endingOf(started)).toBe('begin\nend\n\n\n[background process completed]\n');
});

test('a detached command neither keeps the agent from ending, nor holds any of its files', async () => {
  const agent = startAgent();
  const started = await startIn(agent, longSleep(341));
  const keeper = parentOf(started.pid);
  // stdio, the output and its pipe, room for the line, two for records, the locked directory, the socket; of the
  // agent's pipes, none.
  await eventually(() => expect(openDescriptors(keeper)).toHaveLength(10));
  agent.child.stdin?.end();
  expect(await agent.ended).toEqual({ code: 0, signal: null });
  expect(lives(started.pid)).toBe(true);
});

test('its time limit is enforced after the agent has ended', async () => {
  const agent = startAgent({ timeouts: { background: 2 }, graceMs: 500 });
  const pause = longSleep(342);
  const command = `trap '' TERM; setsid ${pause} & echo on; while :; do ${pause}; done`;
  const started = await startIn(agent, command);
  agent.child.kill('SIGKILL');
  await agent.ended;
  expect(await endingOf(started)).toBe('on\n\n\n[background process timed out after 2s]\n');
  expect(sleeping(342)).toEqual([]);
  expect(isGone(started.pid)).toBe(true);
});

test('another agent can stop it in the way that the answer says', async () => {
  const first = startAgent();
  const started = await startIn(first, longSleep(343));
  first.child.kill('SIGKILL');
  await first.ended;
  const second = startAgent();
  send(second, `kill -9 -- -${started.pid}; tail -c 100 ${started.outputFile}`);
  expect((await second.next<Answer>()).error).toBeUndefined();
  expect(await endingOf(started)).toBe('\n\n[background process failed: signal: 9 (SIGKILL)]\n');
  await eventually(() => expect(sleeping(343)).toEqual([]));
});

test('B9: in a container, an agent that is the first process reaps the keeper', async () => {
  const under = namespaces('--pid', '--fork', '--kill-child', '--mount-proc');
  const agent = startAgent({}, { under });
  send(agent, upTo('reaped', 'exit 3'), 'background');
  const { text = '' } = await agent.next<Answer>();
  const [, outputFile = ''] = /<output_file>(.*)<\/output_file>/.exec(text) ?? [];
  // Numbers in the answer are those of the namespace; from here the agent has another one.
  const [first = 0] = childrenOf(Number(agent.child.pid));
  // The agent's own keeper, and that of the command.
  expect(childrenOf(first)).toHaveLength(2);
  go('reaped');
  await eventually(() => expect(outputOf({ outputFile })).toContain('exit status: 3'));
  await eventually(() => expect(childrenOf(first)).toHaveLength(1));
  agent.child.stdin?.end();
  await agent.ended;
});
