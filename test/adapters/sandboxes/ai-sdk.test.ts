import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Experimental_SandboxSession, generateText, stepCountIs, tool } from 'ai-7';
import { MockLanguageModelV4 } from 'ai-7/test';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createSandboxSession } from '../../../src/adapters/sandboxes/ai-sdk/index.js';
import { longSleep } from '../../support/commands.js';
import { useDisposal } from '../../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually, processesRunning } from '../../support/processes.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();

/** What is made is what the library asks for: its compiler checks. */
async function open(options = {}): Promise<Experimental_SandboxSession> {
  return keep(await createSandboxSession({ root: folder.path, graceMs: 300, ...options }));
}

async function textOf(stream: ReadableStream<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('commands', () => {
  test('a command returns its streams apart, and how it ended', async () => {
    const sandbox = await open();
    const command = 'echo out; echo err >&2; exit 3';
    expect(await sandbox.run({ command })).toEqual({
      exitCode: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    });
  });

  test('it starts in the root, or in a directory there, with variables of its own', async () => {
    const sandbox = await open();
    await sandbox.writeTextFile({ path: 'd/f', content: '' });
    const { stdout } = await sandbox.run({
      command: 'pwd; echo $GIVEN',
      workingDirectory: 'd',
      env: { GIVEN: 'a b' },
    });
    expect(stdout).toBe(`${folder.path}/d\na b\n`);
    await expect(
      Promise.resolve(sandbox.run({ command: 'pwd', workingDirectory: '/' })),
    ).rejects.toMatchObject({ kind: 'outside' });
  });

  test('an abort ends all that it started, and throws the reason', async () => {
    const sandbox = await open();
    const sleep = longSleep(871);
    const abort = new AbortController();
    const running = sandbox.run({ command: `${sleep} & ${sleep}`, abortSignal: abort.signal });
    await eventually(() => expect(processesRunning(sleep)).toHaveLength(2));
    abort.abort(new Error('enough'));
    await expect(Promise.resolve(running)).rejects.toThrow('enough');
    expect(processesRunning(sleep)).toEqual([]);
  });

  test('when its time is up, it says so', async () => {
    const sandbox = await open({ timeoutMs: 200 });
    const { exitCode, stderr } = await sandbox.run({ command: longSleep(872) });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 124,
      stderr: '\n[timed out after 200 ms]\n',
    });
  });

  test('the middle of a long output is left out, and that is said', async () => {
    const sandbox = await open({ headBytes: 10, tailBytes: 10 });
    const { stdout } = await sandbox.run({ command: 'seq 100000' });
    expect(stdout).toMatch(/^1\n2\n3\n4\n5\n\[… .*, not shown …\]\n\d+\n100000\n$/);
  });
});

describe('processes', () => {
  test('their streams come apart, as bytes, and are told their input', async () => {
    const sandbox = await open();
    const process = await sandbox.spawn({ command: 'cat; printf "\\377" >&2', stdin: true });
    const writer = process.stdin.getWriter();
    await writer.write(Buffer.from('hello '));
    await writer.write(Buffer.from('there'));
    await writer.close();
    expect(await textOf(process.stdout)).toBe('hello there');
    const { value } = await process.stderr.getReader().read();
    expect([...(value ?? [])]).toEqual([255]);
    expect(await process.wait()).toEqual({ exitCode: 0 });
  });

  test('without stdin there is none', async () => {
    const process = await (await open()).spawn({ command: 'cat' });
    expect(process).not.toHaveProperty('stdin');
    expect(await process.wait()).toEqual({ exitCode: 0 });
  });

  test('a killed process is gone with all that it started, also when killed twice', async () => {
    const sandbox = await open();
    const sleep = longSleep(873);
    const process = await sandbox.spawn({ command: `trap '' TERM; (setsid ${sleep}) & wait` });
    await eventually(() => expect(processesRunning(sleep)).toHaveLength(1));
    await process.kill();
    expect(processesRunning(sleep)).toEqual([]);
    await process.kill();
    expect(await process.wait()).toEqual({ exitCode: 143 });
  });

  test('an abort rejects wait() with the reason', async () => {
    const sandbox = await open();
    const abort = new AbortController();
    const process = await sandbox.spawn({ command: longSleep(874), abortSignal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(Promise.resolve(process.wait())).rejects.toThrow('enough');
  });

  test('one stream can be read to its end while the other is not read', async () => {
    const process = await (await open()).spawn({ command: 'seq 100000 >&2; echo done' });
    expect(await textOf(process.stdout)).toBe('done\n');
    expect((await textOf(process.stderr)).length).toBe(588_895);
  });

  test('unread output is not kept without a limit: the command waits', async () => {
    const process = await (await open()).spawn({ command: 'head -c 30000000 /dev/zero' });
    const before = globalThis.process.memoryUsage().arrayBuffers;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(globalThis.process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
    expect((await textOf(process.stdout)).length).toBe(30_000_000);
  });
});

describe('files', () => {
  test('texts are read by lines as the library counts them, and in other encodings', async () => {
    const sandbox = await open();
    const path = 'texts/lines';
    await sandbox.writeTextFile({ path, content: 'one\r\ntwo\r\nthree\r\n' });
    expect(await sandbox.readTextFile({ path, startLine: 2, endLine: 2 })).toBe('two');
    expect(await sandbox.readTextFile({ path, startLine: 3, endLine: 99 })).toBe('three\r\n');
    await sandbox.writeTextFile({ path, content: 'grün', encoding: 'utf-16le' });
    expect(await sandbox.readTextFile({ path, encoding: 'utf-16le' })).toBe('grün');
    expect(await sandbox.stat({ path })).toEqual({ type: 'file', size: 8 });
    await expect(
      Promise.resolve(sandbox.writeTextFile({ path, content: '', encoding: 'klingon' })),
    ).rejects.toThrow('encoding: expected utf-8, utf-16le, latin1 or ascii, got "klingon"');
  });

  test('bytes go in and out as streams', async () => {
    const sandbox = await open();
    const content = new Blob([new Uint8Array(1_000_000).fill(7)]).stream();
    await sandbox.writeFile({ path: 'bytes', content });
    expect(await textOf(await sandbox.readFile({ path: 'bytes' }))).toHaveLength(1_000_000);
    expect(await sandbox.readBinaryFile({ path: 'bytes' })).toHaveLength(1_000_000);
  });

  test('a missing file is null, and a path that is not valid is an error', async () => {
    const sandbox = await open();
    expect(await sandbox.readFile({ path: 'no' })).toBeNull();
    expect(await sandbox.readBinaryFile({ path: 'no/no' })).toBeNull();
    expect(await sandbox.readTextFile({ path: 'no' })).toBeNull();
    expect(await sandbox.stat({ path: 'no' })).toBeNull();
    expect(await sandbox.listDirectory({ path: 'no' })).toBeNull();
    expect(await sandbox.deleteFile({ path: 'no' })).toBe(false);
    await sandbox.writeTextFile({ path: 'e/f', content: '' });
    for (const work of [
      () => sandbox.deleteFile({ path: 'e' }),
      () => sandbox.listDirectory({ path: 'e/f' }),
      () => sandbox.writeTextFile({ path: 'e', content: '' }),
      () => sandbox.readTextFile({ path: '/etc/passwd' }),
    ]) {
      await expect(Promise.resolve(work())).rejects.toMatchObject({ name: 'PathError' });
    }
  });

  test('a link is listed as a link, and itself deleted', async () => {
    const sandbox = await open();
    await sandbox.writeTextFile({ path: 'links/target', content: 'x' });
    symlinkSync('target', join(folder.path, 'links/link'));
    expect(await sandbox.listDirectory({ path: 'links' })).toEqual([
      { name: 'link', type: 'symlink' },
      { name: 'target', type: 'file' },
    ]);
    expect(await sandbox.stat({ path: 'links/link' })).toEqual({ type: 'file', size: 1 });
    expect(await sandbox.deleteFile({ path: 'links/link' })).toBe(true);
    expect(await sandbox.readTextFile({ path: 'links/target' })).toBe('x');
  });
});

test('a tool in the loop of AI SDK 7 is given the session, and works with it', async () => {
  const sandbox = await open();
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  let turn = 0;
  const model = new MockLanguageModelV4({
    doGenerate: async () => ({
      content:
        turn++ === 0
          ? [{ type: 'tool-call', toolCallId: '1', toolName: 'shell', input: '{"command":"pwd"}' }]
          : [{ type: 'text', text: 'done' }],
      finishReason: { unified: turn === 1 ? 'tool-calls' : 'stop', raw: undefined },
      usage,
      warnings: [],
    }),
  });
  const shell = tool({
    inputSchema: z.object({ command: z.string() }),
    execute: async ({ command }, { experimental_sandbox }) => {
      expect(experimental_sandbox?.description).toContain(folder.path);
      return (await experimental_sandbox?.run({ command }))?.stdout;
    },
  });
  const { text } = await generateText({
    model,
    prompt: 'Go',
    tools: { shell },
    experimental_sandbox: sandbox,
    stopWhen: stepCountIs(3),
  });
  expect(text).toBe('done');
  expect(JSON.stringify(model.doGenerateCalls[1]?.prompt)).toContain(folder.path);
});
