import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  type BashTool,
  type BashToolOptions,
  CONTRACT_NAMES,
  createBashTool,
  type InteractionEntry,
  receiptOf,
  run,
} from '../../src/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import { failureOf } from '../support/results.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();

/** A tool that notes its commands, and the entries so far. */
function noting(options: BashToolOptions): { tool: BashTool; entries: InteractionEntry[] } {
  const entries: InteractionEntry[] = [];
  const log = { append: (entry: InteractionEntry) => void entries.push(entry) };
  return {
    tool: keep(createBashTool({ graceMs: 300, ...options, log } as BashToolOptions)),
    entries,
  };
}

/** What a call comes to does not matter here. */
const settle = (call: Promise<unknown>) => call.catch(() => {});

describe.each(CONTRACT_NAMES)('the interaction log of a tool of the contract %s', (contract) => {
  const isMerged = contract === 'workspace' || contract === 'modes';
  const sizes = (stdoutBytes: number, stderrBytes = 0) =>
    isMerged ? { outputBytes: stdoutBytes + stderrBytes } : { stdoutBytes, stderrBytes };
  const nothing = { stdoutBytes: 0, stderrBytes: 0 };
  const makeTool = (options: object = {}) =>
    noting({ contract, cwd: folder.path, ...options } as BashToolOptions);

  test('has a line for each command, with its exit code, sizes and receipt', async () => {
    const path = folder.file(`${contract}.log`);
    const before = Date.now();
    const tool = keep(createBashTool({ contract, cwd: folder.path, log: path } as BashToolOptions));
    await tool.execute({ command: 'printf secret; printf é >&2; exit 3' });
    await tool.dispose();
    const text = readFileSync(path, 'utf8');
    const { time, durationMs, receipt, ...entry }: InteractionEntry = JSON.parse(text);
    expect(entry).toEqual({
      command: 'printf secret; printf é >&2; exit 3',
      exitCode: 3,
      ...sizes(6, 2),
    });
    expect(receipt).toMatchObject({ outcome: { kind: 'exited', exitCode: 3 }, background: [] });
    expect(Object.keys(receipt ?? {})).toEqual(Object.keys(await receiptOf(await run('exit 3'))));
    expect(Date.parse(time)).toBeGreaterThanOrEqual(before);
    expect(durationMs).toBeGreaterThanOrEqual(0);
    expect(text.match(/secret/g)).toHaveLength(1);
  });

  test('has what was killed, was cancelled, or ran when its tool was disposed of', async () => {
    const { tool, entries } = makeTool();
    await settle(tool.execute({ command: 'echo a; kill -9 $$' }));
    const signal = AbortSignal.timeout(200);
    await settle(tool.execute({ command: 'echo ab; sleep 30' }, { signal }));
    const running = settle(tool.execute({ command: `echo abc; ${longSleep(831)}` }));
    await eventually(() => expect(sleeping(831)).toHaveLength(1));
    await tool.dispose();
    await running;
    const cancelled = (by: string) => ({ kind: 'cancelled', by });
    expect(entries).toMatchObject([
      { exitCode: 137, error: 'Killed by SIGKILL.', ...sizes(2) },
      { error: 'Command cancelled', ...sizes(3), receipt: { outcome: cancelled('signal') } },
      { error: 'Command cancelled', ...sizes(4), receipt: { outcome: cancelled('owner') } },
    ]);
    expect(entries.map(({ command }) => command)).toEqual([
      'echo a; kill -9 $$',
      'echo ab; sleep 30',
      `echo abc; ${longSleep(831)}`,
    ]);
  });

  test('has what never began, and why, but not what was no command', async () => {
    const { tool, entries } = makeTool();
    await settle(tool.execute({ command: ' ' }));
    await settle(tool.execute({ cmd: 'no command' }));
    await settle(tool.execute({ command: 'true' }, { signal: AbortSignal.abort() }));
    const gone = makeTool({ cwd: folder.file('gone') });
    await settle(gone.tool.execute({ command: 'true' }));
    const blank = 'command: expected a shell command, got " "';
    const known = [...entries, ...gone.entries].map(({ time, durationMs, ...entry }) => entry);
    expect(known).toEqual([
      { command: ' ', error: blank, ...nothing },
      { command: 'true', error: 'Command cancelled', ...nothing },
      {
        command: 'true',
        error: `Working directory does not exist: ${folder.file('gone')}`,
        ...nothing,
      },
    ]);
  });

  test('that cannot be written is reported once, and no command notices', async () => {
    const told: string[] = [];
    const logger = { warn: (message: string) => told.push(message) };
    const log = { append: () => Promise.reject(new Error('full')) };
    const options = { contract, cwd: folder.path, log, logger };
    const tool = keep(createBashTool(options as BashToolOptions));
    await tool.execute({ command: 'echo a' });
    await tool.execute({ command: 'echo b' });
    await tool.dispose();
    expect(told).toEqual(['log: an entry could not be written: Error: full']);
  });
});

const timeouts: readonly BashToolOptions[] = [
  { contract: 'workspace', cwd: '/', timeout: { default: 1 } },
  { contract: 'modes', cwd: '/', timeouts: { default: 1 } },
  { contract: 'session', cwd: '/', timeoutMs: 1000 },
  { contract: 'plain', cwd: '/', timeout: 1 },
];

test.each(timeouts)(
  'a command of $contract whose time was up is noted without its output',
  async (options) => {
    const { tool, entries } = noting(options);
    await settle(tool.execute({ command: 'echo early; sleep 30' }));
    const [{ error, receipt } = { error: '' }] = entries;
    expect(error).toMatch(/^Command timed out after 1 second(\nFor more time|$)/);
    expect(error).not.toContain('early');
    expect(receipt?.outcome).toMatchObject({ kind: 'timedOut', timeoutMs: 1000 });
  },
);

test('a job of workspace is noted when it has ended, once', async () => {
  const { tool, entries } = noting({ contract: 'workspace', cwd: '/', async: true });
  await tool.execute({ command: 'sleep 0.2; exit 4', async: true });
  expect(entries).toEqual([]);
  await tool.execute({ command: 'true' });
  await tool.companions[0]?.execute({ poll: ['bg_1'] });
  expect(entries.map(({ command, exitCode }) => [command, exitCode])).toEqual([
    ['true', 0],
    ['sleep 0.2; exit 4', 4],
  ]);
  await tool.execute({ command: longSleep(832), async: true });
  await tool.dispose();
  expect(entries[2]).toMatchObject({ command: longSleep(832), error: 'Command cancelled' });
});

test('a command that an interceptor keeps away is noted with what the model was told', async () => {
  const interceptor = { enabled: true, tools: ['read'] };
  const { tool, entries } = noting({ contract: 'workspace', cwd: '/', interceptor });
  const refused = await failureOf(tool.execute({ command: 'cat /etc/hosts' }));
  expect(entries).toMatchObject([{ error: (refused as Error).message }]);
});

test('a task of session is noted when it has ended, even if no call asks for it', async () => {
  const { tool, entries } = noting({ contract: 'session', cwd: '/' });
  await tool.execute({ command: 'sleep 0.2; echo one; exit 4', run_in_background: true });
  expect(entries).toEqual([]);
  await eventually(() => expect(entries).toHaveLength(1));
  expect(entries).toMatchObject([{ exitCode: 4, stdoutBytes: 4, receipt: { troubles: [] } }]);
  await tool.execute({ command: longSleep(833), run_in_background: true });
  await tool.dispose();
  expect(entries).toHaveLength(2);
  expect(entries[1]).toMatchObject({ error: 'Command cancelled' });
});

test('a command of modes that outlives the host is noted when it runs', async () => {
  const { tool, entries } = noting({ contract: 'modes', cwd: '/' });
  const { details } = await tool.execute({ command: 'exit 4', mode: 'background' });
  const { pid } = details as { readonly pid: number };
  expect(entries).toMatchObject([{ command: 'exit 4', detachedPid: pid }]);
  expect(entries[0]).not.toHaveProperty('receipt');
});
