import { expect, test } from 'vitest';
import { type HostOptions, namespaces, startHost } from '../../support/hosts.js';
import { leavesNothingBehind } from '../../support/leftovers.js';

leavesNothingBehind();

/** Why a command can't be started by the portable engine. */
async function failureUnder(options: HostOptions, command: string, runOptions = {}) {
  const env = { FORKLINE_ENGINE: 'portable' };
  const host = startHost('commands', { ...options, env });
  const { error } = await host.run(command, runOptions);
  host.child.stdin?.end();
  await host.ended;
  return error;
}

const withoutDevices: HostOptions = {
  under: namespaces('-m', 'sh', '-c', 'mount -t tmpfs none /dev && exec "$@"', 'sh'),
};

test.each([['true'], [['true']]])(
  "A18: without /dev/null the portable engine's error has that name, too: %j",
  async (command) => {
    expect(await failureUnder(withoutDevices, command as string)).toEqual({
      name: 'LaunchError',
      code: 'ENOENT',
      step: 'stdio',
      message: 'ENOENT: cannot open /dev/null: No such file or directory',
    });
  },
);

test("A18: without terminals the portable engine's error says so", async () => {
  expect(await failureUnder(withoutDevices, 'true', { pty: true })).toEqual({
    name: 'LaunchError',
    code: 'ENOENT',
    step: 'terminal',
    message: 'ENOENT: cannot make a terminal: /dev/ptmx: No such file or directory',
  });
});

test('C5: a file descriptor for the directory that no process may have is an error', async () => {
  const few: HostOptions = { under: ['bash', '-c', 'ulimit -n 64; exec "$@"', 'bash'] };
  expect(await failureUnder(few, 'cd /', { followDirectory: true })).toEqual({
    name: 'LaunchError',
    code: 'EMFILE',
    step: 'descriptors',
    message:
      'EMFILE: cannot make descriptor 97, by which its directory is told: Too many open files',
  });
});
