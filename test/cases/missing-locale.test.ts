import { afterEach, expect, test, vi } from 'vitest';
import { type BashToolOptions, createBashTool, run } from '../../src/index.js';
import { leavesNothingBehind } from '../support/leftovers.js';

leavesNothingBehind();
afterEach(() => {
  vi.unstubAllEnvs();
});

const COMMAND = 'echo "LC_ALL is $LC_ALL"; bash -c "echo inner"';
const CONTRACTS: readonly BashToolOptions[] = [
  { contract: 'plain', cwd: '/' },
  { contract: 'modes', cwd: '/' },
  { contract: 'session', cwd: '/' },
  ...(process.env.FORKLINE_ENGINE === 'portable'
    ? []
    : ([{ contract: 'session', cwd: '/', persistent: true }] as const)),
  { contract: 'workspace', cwd: '/' },
];

test.each(CONTRACTS)(
  'no answer begins with a warning about a missing locale: %j (Q7)',
  async (options) => {
    vi.stubEnv('LC_ALL', 'xx_NOWHERE');
    await using tool = createBashTool(options);
    for (let count = 0; count < 2; count += 1) {
      const { text } = await tool.answer({ command: COMMAND });
      expect(text).toContain('LC_ALL is C');
      expect(text).toContain('inner');
      expect(text).not.toContain('setlocale');
    }
  },
);

test('a locale that exists, and one that the tool was created with, stay unchanged (Q7)', async () => {
  vi.stubEnv('LC_ALL', 'xx_NOWHERE');
  await using own = createBashTool({ contract: 'plain', cwd: '/', env: { LC_ALL: 'POSIX' } });
  expect((await own.answer({ command: COMMAND })).text).toContain('LC_ALL is POSIX');
  vi.stubEnv('LC_ALL', 'C.UTF-8');
  await using there = createBashTool({ contract: 'plain', cwd: '/' });
  expect((await there.answer({ command: COMMAND })).text).toContain('LC_ALL is C.UTF-8');
});

test('one warning says that the host names a missing locale (Q7)', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  vi.stubEnv('LC_ALL', 'xx_ELSEWHERE');
  for (let count = 0; count < 2; count += 1) {
    await using tool = createBashTool({ contract: 'plain', cwd: '/' });
    await tool.answer({ command: 'true' });
  }
  expect(warned.mock.calls).toEqual([
    [
      expect.stringContaining('LC_ALL is xx_ELSEWHERE'),
      expect.objectContaining({ code: 'FORKLINE_NO_LOCALE' }),
    ],
  ]);
  warned.mockRestore();
});

test('run() does not change the locale by itself: bash warns, as it does everywhere (Q7)', async () => {
  vi.stubEnv('LC_ALL', 'xx_NOWHERE');
  const { output } = await run('echo "LC_ALL is $LC_ALL"; :');
  expect(output).toMatchObject({
    text: expect.stringMatching(/setlocale.*\nLC_ALL is xx_NOWHERE\n$/),
  });
});
