import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { AIMessage } from '@langchain/core/messages';
import { createDeepAgent, isSandboxBackend, type SandboxBackendProtocolV2 } from 'deepagents';
import { fakeModel } from 'langchain';
import { expect, test } from 'vitest';
import { createBackend } from '../../../src/adapters/sandboxes/deepagents/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { useDisposal } from '../../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();
const open = async (options = {}) =>
  keep(await createBackend({ root: folder.path, graceMs: 300, ...options }));
const inRoot = (path: string) => join(folder.path, path);

test('it is a backend with a shell to the library, for its compiler too', async () => {
  const backend: SandboxBackendProtocolV2 = await open();
  expect(isSandboxBackend(backend)).toBe(true);
});

test('a command tells both streams in order, and how it ended', async () => {
  const backend = await open();
  expect(await backend.execute('echo out; echo err >&2; exit 3')).toEqual({
    output: 'out\nerr\n',
    exitCode: 3,
    truncated: false,
  });
  expect(await backend.execute('head -c 1000000 /dev/zero')).toMatchObject({
    exitCode: 0,
    truncated: true,
  });
});

test('a command whose time is up is gone with all that it started, and says so', async () => {
  const backend = await open({ timeoutMs: 300 });
  const { output, exitCode } = await backend.execute(`${longSleep(881)} & ${longSleep(881)}`);
  expect({ output, exitCode }).toEqual({ output: '\n[Timed out after 0.3 s]', exitCode: 124 });
  expect(sleeping(881)).toEqual([]);
});

test('files are written, read by lines, changed, found and removed', async () => {
  const backend = await open();
  expect(await backend.write('d/a.txt', 'one\ntwo\nthree\n')).toEqual({
    path: 'd/a.txt',
    filesUpdate: null,
  });
  expect(await backend.read(inRoot('d/a.txt'), 1, 1)).toEqual({
    content: 'two',
    mimeType: 'text/plain',
    totalLines: 3,
    startLine: 2,
    endLine: 2,
    nextOffset: 2,
  });
  expect(await backend.read('d/a.txt', 2)).toMatchObject({ content: 'three\n', endLine: 3 });
  expect((await backend.read('d/a.txt', 3)).error).toContain('the file has 3 lines');
  expect(await backend.edit('d/a.txt', 'two', '2')).toMatchObject({ occurrences: 1 });
  expect((await backend.edit('d/a.txt', 'e', 'E')).error).toContain(
    'the file contains "e" 3 times',
  );
  expect(await backend.edit('d/a.txt', 'e', 'E', true)).toMatchObject({ occurrences: 3 });
  expect((await backend.edit('d/a.txt', 'none', '')).error).toContain(
    'the file does not contain "none"',
  );
  expect(readFileSync(inRoot('d/a.txt'), 'utf8')).toBe('onE\n2\nthrEE\n');

  expect(await backend.ls('/')).toMatchObject({
    files: [{ path: `${inRoot('d')}/`, is_dir: true }],
  });
  expect(await backend.ls('d')).toMatchObject({
    files: [{ path: inRoot('d/a.txt'), is_dir: false, size: 12 }],
  });
  expect(await backend.glob('**/*.txt')).toMatchObject({ files: [{ path: 'd/a.txt' }] });
  expect(await backend.glob('*.txt', 'd')).toMatchObject({ files: [{ path: 'a.txt' }] });
  const match = { path: inRoot('d/a.txt'), line: 3, text: 'thrEE' };
  expect(await backend.grep('EE')).toEqual({ matches: [match] });
  expect(await backend.grep('EE', inRoot('d'), '*.txt')).toEqual({ matches: [match] });
  expect(await backend.grep('EE', 'd/a.txt')).toEqual({ matches: [match] });
  expect(await backend.grep('EE', '/', '*.md')).toEqual({ matches: [] });
  expect(await backend.grep('E', '/', null, 1)).toMatchObject({ truncated: true });

  expect(await backend.delete('d')).toEqual({ path: 'd', filesUpdate: null });
  expect((await backend.delete('d')).error).toBe('Error: "d": no such file or directory');
  expect(existsSync(inRoot('d'))).toBe(false);
});

test('a file that is no text, by its name or its content, is bytes', async () => {
  const backend = await open();
  await backend.write('p.png', Buffer.from([1, 2, 3]).toString('base64'));
  expect(await backend.read('p.png')).toEqual({
    content: Buffer.from([1, 2, 3]),
    mimeType: 'image/png',
  });
  await backend.uploadFiles([['b', new Uint8Array([255, 0])]]);
  expect(await backend.readRaw('b')).toMatchObject({
    data: { content: Buffer.from([255, 0]), mimeType: 'application/octet-stream' },
  });
});

test('files go in and out, and each has its own error', async () => {
  const backend = await open();
  symlinkSync('/etc', inRoot('etc'));
  const bytes = new Uint8Array([7]);
  expect(
    await backend.uploadFiles([
      ['t/x', bytes],
      ['t', bytes],
      ['etc/passwd', bytes],
    ]),
  ).toEqual([
    { path: 't/x', error: null },
    { path: 't', error: 'is_directory' },
    { path: 'etc/passwd', error: 'invalid_path' },
  ]);
  expect(await backend.downloadFiles(['t/x', 'no', '/etc/passwd'])).toEqual([
    { path: 't/x', content: Buffer.from([7]), error: null },
    { path: 'no', content: null, error: 'file_not_found' },
    { path: '/etc/passwd', content: null, error: 'invalid_path' },
  ]);
  expect((await backend.read('etc/passwd')).error).toContain('it leads out of');
});

test("an agent of the library's works with it", async () => {
  const call = (name: string, args: Record<string, unknown>) =>
    new AIMessage({ content: '', tool_calls: [{ name, args, id: name, type: 'tool_call' }] });
  const model = fakeModel()
    .respond(call('write_file', { file_path: inRoot('agent.txt'), content: 'from the agent' }))
    .respond(call('execute', { command: 'cat agent.txt; exit 4' }))
    .respond(call('read_file', { file_path: inRoot('agent.txt') }))
    .respond(call('glob', { pattern: '*.txt' }))
    .respond(new AIMessage('done'));
  const agent = createDeepAgent({ model, backend: await open() });
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Go' }] });
  const told = messages.filter((message) => message.type === 'tool').map(({ text }) => text);
  expect(told[1]).toBe('from the agent\n[Command failed with exit code 4]');
  expect(told[2]).toContain('from the agent');
  expect(told[3]).toContain('agent.txt');
  expect(messages.at(-1)?.text).toBe('done');
}, 60_000);
