import { closeSync, openSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { InputError } from '../../src/index.js';
import {
  type ConnectOptions,
  connect,
  NoWorkerError,
  WorkerLostError,
} from '../../src/remote/index.js';
import { endOf, startCliOn } from '../support/cli.js';
import { longSleep, quote, sleeping } from '../support/commands.js';
import { FAR_SIDE } from '../support/far.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import { failureOf, printed } from '../support/results.js';

leavesNothingBehind();
const folder = useFolder();

// What bash says of a locale that is missing is not what is looked for here.
beforeAll(() => void vi.stubEnv('LC_ALL', 'C'));
afterAll(() => void vi.unstubAllEnvs());

/** A far side whose program does something before it speaks. */
function behind(script: string): string[] {
  return ['bash', '-c', script, 'bash', ...FAR_SIDE];
}

async function whyNot(options: ConnectOptions): Promise<string> {
  const error = await failureOf(connect(options));
  expect(error).toBeInstanceOf(NoWorkerError);
  return (error as Error).message;
}

test.each([
  ['its directory is not there', { command: ['cat'], cwd: '/nope' }, /cwd: ENOENT/],
  ['its directory is a file', { command: ['cat'], cwd: '/etc/passwd' }, /cwd: .* is no directory$/],
  ['an argument is too long', { command: ['cat', 'x'.repeat(200_000)] }, /…`: spawn E2BIG$/],
  [
    'only its standard output tells why',
    { command: ['bash', '-c', 'echo forkline: not found; exit 127'] },
    /bash ended \(code 127\); it printed: forkline: not found$/,
  ],
  [
    'it prints what a terminal would act upon',
    { command: ['bash', '-c', 'printf "\\033]0;x\\a" >&2; exit 1'] },
    /\(code 1\): \\x1b\]0;x\\x07$/,
  ],
] as const)(
  'A far side that can’t be reached is an error with the reason: %s',
  async (_, options, why) => {
    expect(await whyNot(options)).toMatch(why);
  },
);

test('A NUL in the command of a far side is an error of input', async () => {
  expect(await failureOf(connect({ command: ['cat', 'a\0b'] }))).toBeInstanceOf(InputError);
});

test('A far side of another protocol is an error, and the process stays alive until it is told', async () => {
  const says = 'printf "\\0forkline-serve\\n"; echo garbage garbage; exec sleep 3';
  expect(await whyNot({ command: ['bash', '-c', says] })).toMatch(/can't be understood/);
});

test('Other processes with the pipes of an ended program are not waited for', async () => {
  const message = await whyNot({ command: behind(`${longSleep(181)} & exit 5`) });
  expect(message).toMatch(/bash ended \(code 5\)$/);
  const far = await connect({ command: behind(`${longSleep(181)} & exec "$@"`) });
  expect(printed(await far.run('echo hi'))).toBe('hi\n');
  await far.dispose();
  expect(sleeping(181)).toHaveLength(2);
  for (const pid of sleeping(181)) process.kill(pid);
  await eventually(() => expect(sleeping(181)).toEqual([]));
});

test('Either side reports a terminal in between', async () => {
  const command = `script -qec ${quote(FAR_SIDE.map(quote).join(' '))} /dev/null`;
  expect(await whyNot({ command: ['bash', '-c', command] })).toMatch(
    /not a terminal.*leave out -t/,
  );
  // One that does not look says what it is, and the terminal changes that.
  const says = 'stty -F /dev/tty onlcr; printf "\\0forkline-serve\\n"; exec sleep 3';
  const other = ['script', '-qec', `bash -c '${says}'`, '/dev/null'];
  expect(await whyNot({ command: other })).toMatch(/there is a terminal in between/);
});

test('The error after the loss of a far side has what its program printed', async () => {
  const file = folder.file('pid');
  const script = `(echo $BASHPID >${quote(file)}; exec "$@"); echo connection reset >&2; exit 255`;
  const far = await connect({ command: behind(script) });
  const lost = failureOf(far.run(longSleep(182)));
  await eventually(() => expect(sleeping(182)).toHaveLength(1));
  process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL');
  expect(await lost).toBeInstanceOf(WorkerLostError);
  expect(((await lost) as Error).message).toMatch(/bash ended \(code 255\):.*connection reset$/s);
  await far.dispose();
});

test('E3: a far side that can’t write to its client ends, and says so', async () => {
  const full = openSync('/dev/full', 'w');
  const ended = await endOf(startCliOn(['pipe', full, 'pipe'], 'serve', '--stdio'));
  closeSync(full);
  expect(ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^forkline: standard output can't be written to: ENOSPC/),
  });
});
