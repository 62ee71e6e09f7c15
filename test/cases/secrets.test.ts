import { afterEach, expect, test, vi } from 'vitest';
import { run } from '../../src/index.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { exited, failureOf, printed } from '../support/results.js';
import { answerTo, useWorkspaceTools } from '../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const tool = useWorkspaceTools(folder);
afterEach(() => {
  vi.unstubAllEnvs();
});

const COUNT = 'env | grep -c FOO';

test('J1: a secret of the host is not in the environment of a command', async () => {
  vi.stubEnv('FOO_API_KEY', 'secret');
  const result = await run(COUNT);
  expect(printed(result)).toBe('0\n');
  expect(result.outcome).toEqual(exited(1));
});

test('J1: it is there when requested', async () => {
  vi.stubEnv('FOO_API_KEY', 'secret');
  expect(printed(await run(COUNT, { inheritEnv: 'all' }))).toBe('1\n');
  expect(printed(await run(COUNT, { env: { FOO_API_KEY: 'given' } }))).toBe('1\n');
});

test('J1: no variable of the host is, when none is to be inherited', async () => {
  vi.stubEnv('FOO', 'harmless');
  const result = await run('env -u FORKLINE_MARK | sort', { inheritEnv: 'none' });
  expect(printed(result)).toMatch(/^(PWD=.*\n)?(SHLVL=.*\n)?_=.*\n$/);
});

test('J1: the workspace contract hides secrets, and has a list of its own if wanted', async () => {
  vi.stubEnv('FOO_API_KEY', 'secret');
  vi.stubEnv('FOO_HARMLESS', 'x');
  const command = 'echo "[$FOO_API_KEY|$FOO_HARMLESS]"';
  expect(await answerTo(tool({}), { command })).toMatch(/^\[\|x\]\n/);
  expect(await answerTo(tool({ inheritEnv: 'all' }), { command })).toMatch(/^\[secret\|x\]\n/);
  expect(await answerTo(tool({ scrub: ['*HARM*'] }), { command })).toMatch(/^\[secret\|\]\n/);
  expect(await answerTo(tool({ inheritEnv: 'none' }), { command })).toMatch(/^\[\|\]\n/);
});

test('J1: a secret cannot be read through the processes of the engine', async () => {
  vi.stubEnv('FOO_API_KEY', 'secret');
  const search = 'cat /proc/$$/environ /proc/self/environ';
  expect(printed(await run(search))).not.toContain('secret');
});

test('J2: the interceptor looks at every command of a line, never at quoted text', async () => {
  const interceptor = { enabled: true, tools: ['read'] };
  const blocking = tool({ interceptor });
  expect(await failureOf(blocking.execute({ command: 'true && cat x' }))).toMatchObject({
    message: expect.stringMatching(/^Blocked: .*\n\nOriginal command: true && cat x$/),
  });
  expect(await answerTo(blocking, { command: 'echo "cat x"' })).toMatch(/^cat x\n/);
  // Guidance, not a boundary.
  expect(await answerTo(blocking, { command: 'echo hi >x; $(printf cat) x' })).toMatch(/^hi\n/);
});
