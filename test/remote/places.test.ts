import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { connect } from '../../src/remote/index.js';
import { longSleep, quote, sleeping } from '../support/commands.js';
import { FAR_SIDE } from '../support/far.js';
import { namespaces } from '../support/hosts.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { ROOT, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { printed } from '../support/results.js';
import { SSH_LOGIN, startSshd } from '../support/sshd.js';

leavesNothingBehind();
const folder = useFolder();

// What bash says of a locale that is missing is not what is looked for here.
beforeAll(() => void vi.stubEnv('LC_ALL', 'C'));
afterAll(() => void vi.unstubAllEnvs());

test(
  'by ssh: commands, tools, and nothing is left when ssh is killed',
  where(SSH_LOGIN),
  async () => {
    const sshd = await startSshd(folder.path, folder.path);
    const file = folder.file('pid');
    // As one word of a shell there.
    const there = FAR_SIDE.map(quote).join(' ');
    const login = ['bash', '-c', `echo $$ >${quote(file)}; exec "$@"`, 'bash', 'ssh', ...sshd.ssh];
    const far = await connect({ command: [...login, there] });
    expect(printed(await far.run('echo $SSH_CONNECTION'))).toMatch(/^127\.0\.0\.1 /);
    const bash = await far.createBashTool({ contract: 'session', cwd: '/tmp' });
    await bash.execute({ command: longSleep(183), run_in_background: true });
    let isHeard = false;
    const onOutput = (): void => {
      isHeard = true;
    };
    const command = `echo up; ${longSleep(183)}`;
    const running = far.run(command, { onOutput }).catch((error: unknown) => error);
    await eventually(() => expect(sleeping(183)).toHaveLength(2));
    // That it was started is known once it has come here.
    await eventually(() => expect(isHeard).toBe(true));
    const { readFileSync } = await import('node:fs');
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL');
    expect(await running).toMatchObject({ name: 'WorkerLostError', started: true });
    await eventually(() => expect(sleeping(183)).toEqual([]));
    await far.dispose();
    await sshd.stop();
  },
);

test('in a namespace of its own: it sees its own processes, and cancels reach them', async () => {
  const inside = namespaces('--fork', '--pid', '--mount-proc', '--kill-child');
  const far = await connect({ command: [...inside, ...FAR_SIDE] });
  expect(printed(await far.run('ps -e | wc -l')).trim()).toMatch(/^\d$/);
  const controller = new AbortController();
  const running = far.run(`setsid ${longSleep(184)} & ${longSleep(184)}`, {
    signal: controller.signal,
  });
  await eventually(() => expect(sleeping(184)).toHaveLength(2));
  controller.abort();
  expect((await running).outcome.kind).toBe('cancelled');
  expect(sleeping(184)).toEqual([]);
  await far.dispose();
});

test('by nsenter, in the namespaces of another process', where(ROOT), async () => {
  const { spawn } = await import('../../src/index.js');
  const inner = await spawn(
    'exec unshare --uts sh -c "hostname elsewhere; echo up; exec sleep 99"',
  );
  for await (const { text } of inner) if (text.includes('up')) break;
  const far = await connect({ command: ['nsenter', '-u', '-t', String(inner.pid), ...FAR_SIDE] });
  expect(printed(await far.run('hostname'))).toBe('elsewhere\n');
  await far.dispose();
  await inner.kill();
});
