// A20 and H3: the variables that commands inherit are those of `process.env` at the call.
import { afterEach, expect, test } from 'vitest';
import { type BashTool, createBashTool, run, spawn } from '../../src/index.js';
import { useDisposal } from '../support/disposal.js';
import { type HostAnswer, runHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { printed } from '../support/results.js';

leavesNothingBehind();
const keep = useDisposal();
const own = process.env;
afterEach(() => {
  process.env = own;
  delete process.env.CASE;
});

const show = async (command: string): Promise<string> => printed(await run(command));
const SHOW = `echo "\${CASE-none}"`;

test('H3: a variable that is set, changed or deleted is seen by the next command', async () => {
  for (const value of ['1', '2', undefined, 'é']) {
    if (value === undefined) delete process.env.CASE;
    else process.env.CASE = value;
    expect(await show(SHOW)).toBe(`${value ?? 'none'}\n`);
  }
});

test('H3: a command has the variables of the moment of the call', async () => {
  process.env.CASE = 'before';
  const results = [run(SHOW), spawn(SHOW).then((live) => live.result)];
  process.env.CASE = 'after';
  for (const result of await Promise.all(results)) {
    expect(result).toMatchObject({ output: { text: 'before\n' } });
  }
});

test('H3: a process.env that was replaced counts, and so do variables that it lacks', async () => {
  process.env = { PATH: own.PATH, CASE: 'replaced' };
  expect(await show(SHOW)).toBe('replaced\n');
  expect(await show('printenv HOME || echo none')).toBe('none\n');
  process.env.CASE = 'changed';
  expect(await show(SHOW)).toBe('changed\n');
});

test('H3: values that are no text are converted as by child_process', async () => {
  const toText = { toString: () => 'text' };
  process.env = {
    PATH: own.PATH,
    NUMBER: 5,
    NULL: null,
    NONE: undefined,
    OBJECT: toText,
  } as unknown as NodeJS.ProcessEnv;
  expect(await show('env | grep -E "^(NUMBER|NULL|NONE|OBJECT)=" | sort')).toBe(
    'NULL=null\nNUMBER=5\nOBJECT=text\n',
  );
});

test('H3: inherited properties of a replaced process.env count, except those of all objects', async () => {
  process.env = Object.create({ PATH: own.PATH, CASE: 'inherited' });
  expect(await show(SHOW)).toBe('inherited\n');
  expect(await show('env | grep -c -i object; :')).toBe('0\n');
});

test('H3: no variable can add another one, or have no name', async () => {
  process.env = { PATH: own.PATH, A: 'x\0CASE=smuggled', 'B=C': '1', '': '2', 'D\0CASE': '3' };
  expect(await show(`${SHOW}; echo $A; env | grep -c '^B='; :`)).toBe('none\nx\n0\n');
});

test.each([
  () => createBashTool({ contract: 'workspace', cwd: '/' }),
  () => createBashTool({ contract: 'modes', cwd: '/' }),
  () => createBashTool({ contract: 'session', cwd: '/' }),
  () => createBashTool({ contract: 'plain' }),
] as readonly (() => BashTool)[])(
  'H3: a tool gives its commands the variables of the call',
  async (make) => {
    const tool = keep(make());
    const before = tool.execute({ command: 'sleep 0.1' });
    process.env = { PATH: own.PATH, CASE: 'of the call' };
    const answer = tool.execute({ command: SHOW });
    process.env = own;
    process.env.CASE = 'later';
    expect(JSON.stringify(await answer)).toContain('of the call');
    await before;
  },
);

test('H3: a leading cd to ~ goes where HOME leads at the call', async () => {
  const tool = keep(createBashTool({ contract: 'workspace', cwd: '/' }));
  process.env = { ...own, HOME: '/usr' };
  expect(JSON.stringify(await tool.execute({ command: 'cd ~/lib && pwd' }))).toContain('/usr/lib');
});

/** Starts the host with what no string of Node's can say. */
const withBytes = (...variables: readonly string[]): string[] => {
  const arguments_ = variables.map((variable) => `"$(printf '${variable}')"`);
  return ['sh', '-c', `exec env ${arguments_.join(' ')} "$@"`, 'sh'];
};

test('H3: bytes that are not UTF-8 reach commands unchanged, in a worker too', async () => {
  const under = withBytes('CASE=a\\377z', 'OTHER=\\200');
  expect(await runHost('variables', { under })).toEqual({
    first: 'CASE=61ff7a OTHER=80',
    changed: 'CASE=6e6577 OTHER=80',
    back: 'CASE=61ff7a OTHER=80',
    deleted: 'CASE= OTHER=80',
    worker: 'CASE=6f776e OTHER=80',
  });
});

test('H3: names that are not UTF-8 reach commands unchanged', async () => {
  const command = `env | LC_ALL=C grep -a '^N.ME' | od -An -v -tx1 | tr -d ' \\n'`;
  const args = [JSON.stringify({ command })];
  const under = withBytes('N\\376ME=v', 'N\\377ME=w');
  const { result } = await runHost<HostAnswer>('commands', { under, args });
  expect(result && printed(result)).toBe('4efe4d453d760a4eff4d453d770a');
});

test('A20: workers that share the environment and write it do no harm', async () => {
  const report = await runHost<Record<string, number>>('share-env');
  expect(report.commands).toBeGreaterThan(5);
  expect(report.wrong).toBe(0);
});
