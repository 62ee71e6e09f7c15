import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createOwner, run } from '../../src/index.js';
import { longSleep, quote, sleeping } from '../support/commands.js';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { installed, programPath, ROOT, where } from '../support/needs.js';
import { eventually, isGone, lives } from '../support/processes.js';

// Daemons as people have them: each leaves its group, its session and its pipes in its own way, and
// overwrites or hides what it could be known by.
leavesNothingBehind();
const folder = useFolder();

const program = (name: string) => programPath(name) ?? name;
const redis = program('redis-server');
const nginx = program('nginx');
const sshAgent = program('ssh-agent');
const gpgAgent = program('gpg-agent');
const tmux = program('tmux');

/** Starts it, sees it named, and ends it with its owner. */
async function endsWithItsOwner(command: string, name: RegExp, by = run): Promise<void> {
  const owner = createOwner();
  const { background, outcome } = await by(command, { owner });
  expect(outcome).toEqual({ kind: 'exited', exitCode: 0 });
  expect(background.map((process) => process.command).join('\n')).toMatch(name);
  const pids = background.map(({ pid }) => pid);
  expect(pids.every(lives)).toBe(true);
  await owner.dispose();
  expect(pids.filter((pid) => !isGone(pid))).toEqual([]);
}

test(
  'A8: redis, which overwrites its environment, ends with its owner',
  where(installed('redis-server')),
  async () => {
    const options = `--daemonize yes --port 0 --unixsocket ${folder.file('redis.sock')} --save '' --dir ${folder.path}`;
    await endsWithItsOwner(`${redis} ${options}`, /redis-server/);
  },
);

test(
  'A8: nginx, which overwrites its arguments too, ends with its owner',
  where(installed('nginx')),
  async () => {
    const place = folder.file('nginx');
    mkdirSync(place);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const temporary = paths.map((path) => `${path}_temp_path ${place}/${path};`).join(' ');
    writeFileSync(
      `${place}/conf`,
      `pid ${place}/pid; error_log ${place}/log; worker_processes 2; events {}
     http { access_log off; ${temporary} server { listen unix:${place}/sock; } }`,
    );
    await endsWithItsOwner(`${nginx} -e ${place}/log -c ${place}/conf`, /nginx: master process/);
  },
);

test(
  'A9: ssh-agent, whose environment cannot be read, ends with its owner',
  where(installed('ssh-agent')),
  async () => {
    await endsWithItsOwner(`${sshAgent} -a ${folder.file('agent')} >/dev/null`, /ssh-agent/);
  },
);

test('A9: gpg-agent ends with its owner', where(installed('gpg-agent')), async () => {
  const home = folder.file('gnupg');
  mkdirSync(home, { mode: 0o700 });
  await endsWithItsOwner(`${gpgAgent} --homedir ${home} --daemon >/dev/null`, /gpg-agent/);
});

test(
  'A24: a tmux server that a command started is listed, and ends with its owner',
  where(installed('tmux')),
  async () => {
    const start = `env -u TMUX ${tmux} -S ${folder.file('tmux')} new-session -d ${quote(longSleep(570))}`;
    await endsWithItsOwner(`TERM=xterm ${start}`, /tmux/);
    expect(sleeping(570)).toEqual([]);
  },
);

test(
  'A8, A9: daemons of another user than root end with a host that is killed',
  where(ROOT, installed('redis-server')),
  async () => {
    const under = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
    const host = startHost('commands', { under });
    const { result } = await host.run(
      `${sshAgent || 'sleep 300 &'} >/dev/null; setsid -f env -i ${redis} --port 0 --save '' --dir /tmp >/dev/null 2>&1`,
    );
    const pids = result?.background.map(({ pid }) => pid) ?? [];
    expect(pids.length).toBeGreaterThan(0);
    host.child.kill('SIGKILL');
    await host.ended;
    await eventually(() => expect(pids.filter((pid) => !isGone(pid))).toEqual([]));
  },
);
