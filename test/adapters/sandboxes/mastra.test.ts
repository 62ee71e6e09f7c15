import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type CommandSettings,
  createWorkspaceSandbox,
  type HandleBase,
} from '../../../src/adapters/sandboxes/mastra/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { useDisposal } from '../../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';

// Mastra with all that it brings takes 130 MB. Here its two classes are stood in for, by the same
// members; scripts/mastra.mjs runs the real ones.
abstract class ProcessHandle implements HandleBase {
  stdout = '';
  stderr = '';
  readonly stdoutTruncated = false;
  readonly stderrTruncated = false;
  readonly stdoutDroppedBytes = 0;
  readonly stderrDroppedBytes = 0;
  abstract readonly pid: string;
  abstract readonly exitCode: number | undefined;
  abstract wait(): Promise<{ exitCode: number; stdout: string; killed: boolean }>;
  abstract kill(): Promise<boolean>;
  abstract sendStdin(text: string): Promise<void>;
  abstract closeStdin(): Promise<void>;
  emitStdout(text: string): void {
    this.stdout += text;
  }
  emitStderr(text: string): void {
    this.stderr += text;
  }
}

abstract class SandboxProcessManager {
  protected readonly env = {};
  protected readonly _tracked = new Map<string, ProcessHandle>();
  abstract spawn(command: string, options?: CommandSettings): Promise<ProcessHandle>;
  abstract list(): Promise<{ pid: string; running: boolean; exitCode?: number }[]>;
}

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();
async function open(options = {}) {
  const sandbox = await createWorkspaceSandbox({
    base: { ProcessHandle, SandboxProcessManager },
    root: folder.path,
    graceMs: 300,
    ...options,
  });
  keep({ dispose: () => sandbox.destroy() });
  return sandbox;
}

test('a command tells its streams and its end, and is told as it runs', async () => {
  const sandbox = await open();
  const told: string[] = [];
  const end = await sandbox.executeCommand('echo out; echo err >&2; exit 3', [], {
    onStdout: (text) => told.push(`out ${text}`),
    onStderr: (text) => told.push(`err ${text}`),
  });
  expect(end).toMatchObject({ success: false, exitCode: 3, stdout: 'out\n', stderr: 'err\n' });
  expect(told.sort()).toEqual(['err err\n', 'out out\n']);
  expect(sandbox.status).toBe('running');
});

test('a program with arguments runs without a shell, whatever is in them', async () => {
  const sandbox = await open();
  const { stdout, command } = await sandbox.executeCommand('printf', ['%s|', 'a b', '$(x)']);
  expect({ stdout, command }).toEqual({
    stdout: 'a b|$(x)|',
    command: "printf '%s|' 'a b' '$(x)'",
  });
});

test('variables of the sandbox come to its commands, and those of a command over them', async () => {
  const sandbox = await open({ env: { A: 'machine', B: 'machine', C: 'machine' } });
  sandbox.setEnv((env) => ({ ...env, B: 'sandbox', C: 'sandbox' }));
  const { stdout } = await sandbox.executeCommand('echo $A $B $C', [], { env: { C: 'command' } });
  expect(stdout).toBe('machine sandbox command\n');
});

test('a timeout and an abort end all that a command started, and the result tells which it was', async () => {
  const sandbox = await open();
  const command = `${longSleep(895)} & ${longSleep(895)}`;
  expect(await sandbox.executeCommand(command, [], { timeout: 200 })).toMatchObject({
    exitCode: 124,
    timedOut: true,
    killed: false,
    stderr: '\n[timed out after 200 ms]\n',
  });
  const abort = new AbortController();
  const running = sandbox.executeCommand(command, [], { abortSignal: abort.signal });
  await eventually(() => expect(sleeping(895)).toHaveLength(2));
  abort.abort();
  expect(await running).toMatchObject({ exitCode: 143, timedOut: false, killed: true });
  expect(sleeping(895)).toEqual([]);
});

test('the end of a long output is kept where a limit is given, and the rest is counted', async () => {
  const sandbox = await open();
  const options = { maxRetainedBytes: 10 };
  const { stdout, ...end } = await sandbox.executeCommand('seq 100000', [], options);
  expect(stdout).toMatch(/not shown …\]\n\d+\n100000\n$/);
  expect(end).toMatchObject({ stdoutTruncated: true, stdoutDroppedBytes: 588_895 - 10 });
});

test('a process in the background is read, written to, waited for and ended', async () => {
  const sandbox = await open();
  const { processes } = sandbox;
  const handle = await processes.spawn(`read -r line; echo "got $line"; ${longSleep(896)}`);
  expect(handle).toBeInstanceOf(ProcessHandle);
  expect(await processes.list()).toEqual([{ pid: handle.pid, running: true }]);
  await handle.sendStdin('hello\n');
  await eventually(() => expect(handle.stdout).toBe('got hello\n'));
  expect(await handle.kill()).toBe(true);
  expect(await handle.wait()).toMatchObject({ exitCode: 143, killed: true });
  expect(await handle.kill()).toBe(false);
  await expect(handle.sendStdin('x')).rejects.toThrow('has ended with 143');
  expect(await processes.list()).toEqual([{ pid: handle.pid, running: false, exitCode: 143 }]);

  const reader = await processes.spawn('cat');
  await reader.sendStdin('x');
  await reader.closeStdin();
  expect(await reader.wait()).toMatchObject({ exitCode: 0, stdout: 'x' });
});

test('a sandbox that is stopped has no process in the background, and can be started again', async () => {
  const sandbox = await open();
  await sandbox.processes.spawn(`setsid ${longSleep(897)} & wait`);
  await eventually(() => expect(sleeping(897)).toHaveLength(1));
  await sandbox.stop();
  expect(sleeping(897)).toEqual([]);
  expect(sandbox.isReady()).toBe(false);
  expect((await sandbox.executeCommand('echo again')).stdout).toBe('again\n');
  await sandbox.destroy();
  await expect(sandbox.executeCommand('true')).rejects.toThrow('the sandbox was destroyed');
});

test('files are written with their permissions, and none outside', async () => {
  const sandbox = await open();
  await sandbox.writeFiles([
    { path: 'd/run.sh', content: 'echo run', mode: 0o700 },
    { path: 'd/data', content: Buffer.from([255]) },
  ]);
  expect(statSync(join(folder.path, 'd/run.sh')).mode & 0o777).toBe(0o700);
  expect(readFileSync(join(folder.path, 'd/data'))).toEqual(Buffer.from([255]));
  await expect(sandbox.writeFiles([{ path: '../x', content: '' }])).rejects.toThrow('leads out of');
});
