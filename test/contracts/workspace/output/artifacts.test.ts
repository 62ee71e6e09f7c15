import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  type ArtifactStore,
  createArtifactStore,
  createBashTool,
  createUrlRegistry,
  type ToolError,
  type WorkspaceOptions,
} from '../../../../src/index.js';
import { failureOf } from '../../../support/results.js';
import { textOf } from '../../../support/tool.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'forkline-kept-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const disposals: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(disposals.splice(0).map((dispose) => dispose()));
});

function makeTool(options: Partial<WorkspaceOptions> = {}) {
  const tool = createBashTool({ contract: 'workspace', cwd: folder, ...options });
  disposals.push(() => tool.dispose());
  return tool;
}

function storeOf({ artifacts }: { readonly artifacts: ArtifactStore | undefined }): ArtifactStore {
  if (artifacts === undefined) throw new Error('expected the tool to have a store');
  return artifacts;
}

const seq = (last: number) => Array.from({ length: last }, (_, index) => `${index + 1}\n`).join('');

test('long output is kept whole, and the result says where', async () => {
  const tool = makeTool();
  const result = await tool.execute({ command: 'seq 1 100000' });
  expect(textOf(result)).toMatch(
    /\n\n\[Showing lines \d+-100000 of 100000 \(50\.0KB limit\)\. Read artifact:\/\/0 for full output: sed -n \d+,\d+p artifact:\/\/0\]\nWall time/,
  );
  expect(result.details.meta?.truncation?.artifactId).toBe('0');
  const whole = await storeOf(tool).read('0');
  expect(Buffer.from(whole).toString()).toBe(seq(100_000));
  const { path } = await storeOf(tool).find('0');
  expect(path).toMatch(/\/0\.bash\.log$/);
  expect(path.startsWith(folder)).toBe(false);
});

test('output that is shown whole makes no file; one byte more does', async () => {
  const tool = makeTool({ tailBytes: 100 });
  const fits = await tool.execute({ command: "printf '%100s' x" });
  expect(fits.details).not.toHaveProperty('meta');
  expect(await storeOf(tool).list()).toEqual([]);
  const cut = await tool.execute({ command: "printf '%101s' x" });
  expect(cut.details.meta?.truncation?.artifactId).toBe('0');
  expect((await storeOf(tool).read('0')).length).toBe(101);
});

test('a long last line says its own length and where all of it is', async () => {
  const tool = makeTool();
  const command = "echo first; head -c 1258291 /dev/zero | tr '\\0' x; echo";
  expect(textOf(await tool.execute({ command }))).toContain(
    '[Showing last 50.0KB of line 2 (line is 1.2MB). Read artifact://0 for full output: sed -n 1,1p artifact://0]',
  );
});

test('with a head, the notice names it too', async () => {
  const tool = makeTool({ headBytes: 20, tailBytes: 20 });
  expect(textOf(await tool.execute({ command: 'seq 1 1000' }))).toContain(
    '[Showing lines 1-9 and 996-1000 of 1000 (20B + 20B limit). ' +
      'Read artifact://0 for full output: sed -n 796,995p artifact://0]',
  );
});

test('a command that timed out or failed has its output kept as well', async () => {
  const tool = makeTool();
  const error = await failureOf(tool.execute({ command: 'seq 1 50000; sleep 30', timeout: 1 }));
  expect((error as ToolError).message).toContain('. Read artifact://0 for full output: ');
  expect(error).toMatchObject({ details: { meta: { truncation: { artifactId: '0' } } } });
  const failed = await tool.execute({ command: 'seq 1 50000; exit 3' });
  expect(failed.details).toMatchObject({
    exitCode: 3,
    meta: { truncation: { artifactId: '1' } },
  });
});

test('the size beyond the quota is said, in the notice and in the file', async () => {
  const artifacts = createArtifactStore({ directory: join(folder, 'quota'), maxBytes: 102_400 });
  const result = await makeTool({ artifacts }).execute({ command: 'seq 1 100000' });
  expect(textOf(result)).toContain(
    '(50.0KB limit). Read artifact://0 for its first 100.0KB: sed -n 1,200p artifact://0]',
  );
  const { path } = await artifacts.find('0');
  expect(readFileSync(path, 'utf8')).toBe(
    `${seq(100_000).slice(0, 102_400)}\n[… 475.1KB more were not kept: limit of 100.0KB …]\n`,
  );
});

test('a store that fails never fails a command', async () => {
  const broken: ArtifactStore = {
    ...createArtifactStore(),
    draft: () => Promise.reject(new Error('no room')),
    dispose: async () => {},
  };
  const result = await makeTool({ artifacts: broken }).execute({ command: 'seq 1 100000' });
  expect(textOf(result)).toContain('of 100000 (50.0KB limit)]');
  expect(result.details).toMatchObject({ artifactError: 'no room' });
  const short = await makeTool({ artifacts: broken }).execute({ command: 'echo hi' });
  expect(short.details).not.toHaveProperty('artifactError');
});

test('a directory that is gone costs one artifact and no command', async () => {
  const tool = makeTool();
  await tool.execute({ command: 'seq 1 50000' });
  const { path } = await storeOf(tool).find('0');
  rmSync(dirname(path), { recursive: true });
  const lost = await tool.execute({ command: 'seq 1 50000' });
  expect(lost.details.artifactError).toMatch(/^ENOENT: /);
  const next = await tool.execute({ command: 'seq 1 50000' });
  expect(next.details.meta?.truncation?.artifactId).toBe('1');
});

test('a store of the tool goes with the tool; one that was given does not', async () => {
  const own = makeTool();
  await own.execute({ command: 'seq 1 50000' });
  const { path } = await storeOf(own).find('0');
  await own.dispose();
  expect(existsSync(dirname(path))).toBe(false);

  const artifacts = createArtifactStore({ directory: join(folder, 'given') });
  const tool = makeTool({ artifacts });
  await tool.execute({ command: 'seq 1 50000' });
  await tool.dispose();
  expect(readdirSync(join(folder, 'given'))).toContain('0.bash.log');
});

test('a host that exits without disposing leaves no files', () => {
  const entry = fileURLToPath(new URL('../../../../dist/index.js', import.meta.url));
  const script = `
    import { createBashTool } from ${JSON.stringify(entry)};
    const tool = createBashTool({ contract: 'workspace', cwd: '/' });
    await tool.execute({ command: 'seq 1 50000' });
    console.log((await tool.artifacts.find('0')).path);
  `;
  const args = ['--input-type=module', '-e', script];
  const path = execFileSync(process.execPath, args, { encoding: 'utf8' }).trim();
  expect(path).toMatch(/0\.bash\.log$/);
  expect(existsSync(dirname(path))).toBe(false);
});

test('without a store nothing is kept, and nothing is promised', async () => {
  const tool = makeTool({ artifacts: false });
  expect(tool.artifacts).toBeUndefined();
  expect(tool.description).not.toContain('artifact://');
  const result = await tool.execute({ command: 'seq 1 100000' });
  expect(textOf(result)).toContain('of 100000 (50.0KB limit)]');
  expect(result.details).not.toHaveProperty('artifactError');
});

test('an option that is no store is refused', () => {
  expect(() => makeTool({ artifacts: true as unknown as false })).toThrow(
    'artifacts: expected an artifact store or false, got true',
  );
});

test('a later command reads a kept output by its URL', async () => {
  const tool = makeTool();
  await tool.execute({ command: 'seq 1 100000' });
  const result = await tool.execute({
    command: 'sed -n 4711p artifact://0; wc -l < "artifact://0"',
  });
  expect(textOf(result)).toMatch(/^4711\n100000\n/);
  expect(await failureOf(tool.execute({ command: 'cat artifact://7' }))).toMatchObject({
    message: expect.stringMatching(/^Cannot resolve artifact:\/\/ .*artifact:\/\/7\n.* 7\..*0/),
  });
});

test("two tools share a registry, and each has its own artifacts; the caller's resolver comes first", async () => {
  const urls = createUrlRegistry();
  const tool = makeTool({ urls });
  await tool.execute({ command: 'seq 1 100000' });
  const other = makeTool({ urls, tailBytes: 10 });
  await other.execute({ command: 'seq 1 1000' });
  expect(textOf(await other.execute({ command: 'wc -l < artifact://0' }))).toMatch(/^1000\n/);
  expect(textOf(await tool.execute({ command: 'wc -l < artifact://0' }))).toMatch(/^100000\n/);
  urls.register('artifact', { resolve: () => ({ path: '/dev/null' }) });
  expect(textOf(await tool.execute({ command: 'wc -l < artifact://0' }))).toMatch(/^0\n/);
});
