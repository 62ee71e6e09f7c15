import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { afterAll, describe, expect, test } from 'vitest';
import {
  attach,
  createBashTool,
  createOwner,
  detach,
  run,
  runInConsole,
  spawn,
  TaskManager,
} from '../../src/index.js';
import { createMcpServer } from '../../src/mcp/index.js';
import { connect } from '../../src/remote/index.js';
import { FakeUi } from '../support/console.js';
import { FAR_SIDE } from '../support/far.js';
import { leavesNothingBehind } from '../support/leftovers.js';

leavesNothingBehind();

/** So often at most it is tried: a loop that lets nobody else have a turn has an end here. */
const MOST = 5000;

/** Whether a timer fires while something is tried again and again, as an agent's loop does. */
async function timerFires(attempt: () => Promise<unknown>): Promise<boolean> {
  let fired = false;
  const timer = setTimeout(() => {
    fired = true;
  }, 1);
  for (let count = 0; count < MOST && !fired; count += 1) await attempt().catch(() => {});
  clearTimeout(timer);
  return fired;
}

const gone = createOwner();
const aborted = AbortSignal.abort();
const wrong = { timeoutMs: -1 };
const tasks = new TaskManager();
afterAll(() => Promise.all([gone.dispose(), tasks.dispose()]));

describe('a loop of calls that start nothing does not block the event loop (N11)', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['run() for an owner that was disposed of', () => run('true', { owner: gone })],
    ['run() with a signal that is aborted', () => run('true', { signal: aborted })],
    ['run() with an option that is wrong', () => run('true', wrong)],
    ['run() with an option that nobody knows', () => run('true', { nothing: 1 } as object)],
    ['run() without a command', () => run('')],
    ['run() in no directory', () => run('true', { cwd: '/no/such' })],
    ['run() by no shell', () => run('true', { shell: ['/no/such'] })],
    [
      'run() again where it is denied',
      () => run('true', { owner: gone, onDenied: () => undefined }),
    ],
    ['spawn() for an owner that was disposed of', () => spawn('true', { owner: gone })],
    ['spawn() with a signal that is aborted', () => spawn('true', { signal: aborted })],
    ['spawn() with an option that is wrong', () => spawn('true', wrong)],
    ['a task for an owner that was disposed of', () => tasks.start('true', { owner: gone })],
    ['a task with a signal that is aborted', () => tasks.start('true', { signal: aborted })],
    ['a task with an option that is wrong', () => tasks.start('true', wrong)],
    ['detach() with an option that is wrong', () => detach('true', wrong)],
    ['attach() to nothing', () => attach('nothing')],
    [
      'runInConsole() with an option that is wrong',
      () => runInConsole('true', { ui: new FakeUi(), ...wrong }),
    ],
    [
      'runInConsole() for an owner that was disposed of',
      () => runInConsole('true', { ui: new FakeUi(), owner: gone }),
    ],
  ])('%s', async (_, attempt) => {
    await gone.dispose();
    expect(await timerFires(attempt)).toBe(true);
  });

  test.each([
    { contract: 'plain' },
    { contract: 'modes' },
    { contract: 'session' },
    // The portable engine has none.
    ...(process.env.FORKLINE_ENGINE === 'portable'
      ? []
      : ([{ contract: 'session', persistent: true }] as const)),
    { contract: 'workspace' },
  ] as const)('calls of a tool: %j', async (options) => {
    const tool = createBashTool({ ...options, cwd: '/' });
    const command = { command: 'true' };
    expect(await timerFires(() => tool.execute(command, { signal: aborted }))).toBe(true);
    expect(await timerFires(() => tool.execute({}))).toBe(true);
    expect(await timerFires(() => tool.answer({ command: 5 }))).toBe(true);
    expect(await timerFires(() => tool.answer({ command: ' ' }))).toBe(true);
    expect(await timerFires(() => tool.stream({}).next())).toBe(true);
    for (const companion of tool.companions) {
      expect(await timerFires(() => companion.answer({ nothing: 1 }))).toBe(true);
    }
    await tool.dispose();
    expect(await timerFires(() => tool.execute(command))).toBe(true);
    expect(await timerFires(() => tool.answer(command))).toBe(true);
    expect(await timerFires(() => tool.stream(command).next())).toBe(true);
  });

  test('commands and tools of a far side that is closed', async () => {
    const far = await connect({ command: FAR_SIDE });
    await far.dispose();
    expect(await timerFires(() => far.run('true'))).toBe(true);
    expect(await timerFires(() => far.run('true', wrong))).toBe(true);
    expect(await timerFires(() => far.spawn('true'))).toBe(true);
    expect(await timerFires(() => far.createBashTool({ contract: 'plain', cwd: '/' }))).toBe(true);
  });

  test('calls of an MCP server in the same process', async () => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const tool = createBashTool({ contract: 'plain', cwd: '/' });
    const client = new Client({ name: 'test', version: '1.0.0' });
    await createMcpServer(tool).connect(ours);
    await client.connect(theirs);
    const call = (name: string, args: object) => () =>
      client.callTool({ name, arguments: { ...args } });
    expect(await timerFires(call('nothing', {}))).toBe(true);
    expect(await timerFires(call('bash', {}))).toBe(true);
    await tool.dispose();
    expect(await timerFires(call('bash', { command: 'true' }))).toBe(true);
    await client.close();
  });
});
