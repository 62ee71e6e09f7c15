// H2: what was asked is what the call said at that moment, in the directory of that moment.
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, expect, test } from 'vitest';
import {
  type BashTool,
  createArtifactStore,
  createBashTool,
  createInteractionLog,
  type RunResult,
  run,
  runInConsole,
  spawn,
} from '../../src/index.js';
import { FakeUi } from '../support/console.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { whole } from '../support/results.js';
import { textOf } from '../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();
const home = process.cwd();
const outputOf = (result: RunResult): string => ('output' in result ? whole(result.output) : '');
beforeAll(() => {
  for (const name of ['a', 'b']) mkdirSync(folder.file(name));
});
afterEach(() => process.chdir(home));

/** Makes calls in `a`, and is in `b` before anything of them can have begun. */
async function calledIn<T>(calls: () => Promise<T>): Promise<T> {
  process.chdir(folder.file('a'));
  const answers = calls();
  process.chdir(folder.file('b'));
  return answers;
}

test('H2: without cwd a command runs where the host was at the call', async () => {
  const many = Array.from({ length: 40 }, (_, index) => index);
  const results = await calledIn(() =>
    Promise.all(
      many.map(async (index) => {
        const options = { followDirectory: index % 4 === 1, pty: index % 4 === 2 };
        if (index % 4 !== 3) return run('pwd -P', options);
        return (await spawn('pwd -P', { stdin: 'pipe' })).result;
      }),
    ),
  );
  for (const result of results) expect(outputOf(result).trim()).toBe(folder.file('a'));
});

test('H2: a host whose directory was removed still runs commands in it', async () => {
  mkdirSync(folder.file('gone'));
  process.chdir(folder.file('gone'));
  rmdirSync(folder.file('gone'));
  const { stdout } = await run('stat -c %h .; pwd -P', { streams: 'separate' });
  expect(whole(stdout)).toBe('0\n');
  await expect(run('true', { cwd: 'relative' })).rejects.toThrow(
    "cwd: expected an absolute path, since the host's own directory was removed",
  );
  await expect(run('true', { spill: 'relative' })).rejects.toThrow('spill: expected an absolute');
});

test('H2: a relative cwd and a relative spill path are those of the call', async () => {
  mkdirSync(folder.file('a/sub'));
  const paths = ['one', { path: 'two' }, { path: 'three', afterBytes: 0 }];
  const results = await calledIn(() =>
    Promise.all(paths.map((spill) => run('pwd -P', { cwd: 'sub', spill }))),
  );
  for (const [index, name] of ['one', 'two', 'three'].entries()) {
    const path = folder.file(`a/${name}`);
    expect(results[index]?.spill).toMatchObject({ path });
    expect(readFileSync(path, 'utf8')).toBe(`${folder.file('a/sub')}\n`);
  }
});

test('H2: the plain contract without cwd runs where the host was at the call', async () => {
  const tool = keep(createBashTool({ contract: 'plain' }));
  const answer = await calledIn(() => tool.execute({ command: 'pwd -P' }));
  expect(answer.structured).toMatchObject({ stdout: `${folder.file('a')}\n` });
});

test('H2: the modes contract asks for its directory at the call', async () => {
  let cwd = folder.file('a');
  const tool = keep(createBashTool({ contract: 'modes', cwd: () => cwd }));
  const answer = tool.execute({ command: 'pwd -P' });
  cwd = folder.file('b');
  expect(textOf(await answer)).toBe(`${folder.file('a')}\n`);
});

test('H2: relative paths of a tool, a store and a log are resolved when these are created', async () => {
  const made = await calledIn(async () => ({
    tool: keep(createBashTool({ contract: 'workspace', cwd: 'sub' })),
    store: createArtifactStore({ directory: 'artifacts' }),
    log: createInteractionLog({ path: 'log' }),
  }));
  expect(textOf(await made.tool.execute({ command: 'pwd -P' }))).toContain(folder.file('a/sub'));
  const artifact = await made.store.save('bash', 'kept');
  expect(artifact.path).toContain(folder.file('a/artifacts'));
  await made.store.dispose();
});

test('H2: a console that opens late runs the command with the directory and options of the call', async () => {
  const ui = new FakeUi();
  const late = {
    async openConsole(...given: Parameters<FakeUi['openConsole']>) {
      await sleep(50);
      return ui.openConsole(...given);
    },
  };
  const options = { ui: late, env: { CASE: 'asked' }, shell: ['/bin/bash'] };
  const { text } = await calledIn(async () => {
    const running = runInConsole('pwd -P; echo "$CASE"; test -n "$BASH" && echo bash', options);
    options.env.CASE = 'later';
    options.shell[0] = '/no/such/shell';
    return running;
  });
  expect(text).toBe(`${folder.file('a')}\nasked\nbash\n`);
});

test('H2: options that are changed after the call change nothing', async () => {
  const heard: string[] = [];
  const shared = { env: { CASE: 'asked' }, cwd: folder.file('a'), shell: ['/bin/bash'] };
  const options = { ...shared, onOutput: () => void heard.push('asked') };
  const [first, second] = [run('echo $CASE; pwd', options), spawn('echo $CASE; pwd', shared)];
  Object.assign(options.env, { CASE: 'later' });
  Object.assign(shared, { cwd: folder.file('b') });
  Object.assign(options, { cwd: folder.file('b'), onOutput: () => void heard.push('later') });
  options.shell[0] = '/no/such/shell';
  for (const result of [await first, await (await second).result]) {
    expect(outputOf(result)).toBe(`asked\n${folder.file('a')}\n`);
  }
  // Its output comes in one piece or two.
  expect([...new Set(heard)]).toEqual(['asked']);
});

const MAKE: readonly (() => BashTool)[] = [
  () => createBashTool({ contract: 'workspace', cwd: '/' }),
  () => createBashTool({ contract: 'modes', cwd: '/' }),
  () => createBashTool({ contract: 'session', cwd: '/' }),
  () => createBashTool({ contract: 'plain' }),
];

test.each(MAKE)(
  'H2: input and call that are changed after the call change nothing',
  async (make) => {
    const tool = keep(make());
    const heard: string[] = [];
    const input = { command: 'echo asked' };
    const call = { onOutput: () => void heard.push('asked') };
    const answer = tool.execute(input, call);
    input.command = 'echo later';
    call.onOutput = () => void heard.push('later');
    expect(JSON.stringify(await answer)).toContain('asked');
    // Its output comes in one piece or two.
    expect([...new Set(heard)]).toEqual(['asked']);
  },
);

test('H2: a call that waits for its turn runs with its input and its tool unchanged', async () => {
  const env: Record<string, string> = { OF_TOOL: 'made' };
  const tool = keep(createBashTool({ contract: 'workspace', cwd: '/', env }));
  const before = tool.execute({ command: 'sleep 0.1' });
  const input = { command: 'echo $OF_TOOL $OF_CALL; pwd', env: { OF_CALL: 'asked' }, cwd: '/usr' };
  const answer = tool.execute(input);
  env.OF_TOOL = 'later';
  input.env.OF_CALL = 'later';
  input.cwd = '/';
  expect(textOf(await answer)).toContain('made asked\n/usr\n');
  await before;
});
