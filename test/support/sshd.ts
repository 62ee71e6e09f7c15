import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { installed, type Need, need } from './needs.js';
import { eventually } from './processes.js';

const SSHD = '/usr/sbin/sshd';
/** Where it wants an empty directory when root starts it; a running system has it. */
const PRIVILEGE_SEPARATION = '/run/sshd';

/** A daemon of the test's own, on a free port of loopback, with keys of its own. */
export interface Sshd {
  /** What `ssh` is called with, up to the command. */
  readonly ssh: readonly string[];
  stop(): Promise<void>;
}

/** What {@link startSshd} takes. */
export const SSH_LOGIN: Need = need(
  existsSync(SSHD) && installed('ssh').isMet,
  'sshd or ssh is not installed',
);

/**
 * Starts one that lets in whoever runs the tests.
 *
 * @param folder For its files.
 * @param home What sessions have as `HOME`: the start-up files there are read.
 */
export async function startSshd(folder: string, home: string): Promise<Sshd> {
  const file = (name: string) => join(folder, name);
  for (const key of ['host_key', 'user_key']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file(key)]);
  }
  const port = await freePort();
  const config = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey "${file('host_key')}"`,
    `AuthorizedKeysFile "${file('user_key.pub')}"`,
    'PidFile none',
    'StrictModes no',
    'UsePAM no',
    'PermitRootLogin yes',
    `SetEnv "HOME=${home}"`,
  ];
  writeFileSync(file('sshd_config'), `${config.join('\n')}\n`);
  const made = process.getuid?.() === 0 && !existsSync(PRIVILEGE_SEPARATION);
  if (made) mkdirSync(PRIVILEGE_SEPARATION, { mode: 0o755 });
  const daemon = spawn(SSHD, ['-D', '-e', '-f', file('sshd_config')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await listening(daemon);
  const options = [
    ...['-F', 'none', '-p', String(port), '-i', file('user_key'), '-T'],
    ...['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null'],
    ...['-o', 'IdentitiesOnly=yes', '-o', 'BatchMode=yes', '-o', 'LogLevel=ERROR'],
  ];
  return {
    ssh: [...options, `${userInfo().username}@127.0.0.1`],
    async stop() {
      const ended = new Promise((resolve) => daemon.once('close', resolve));
      daemon.kill('SIGTERM');
      await ended;
      if (made) rmdirSync(PRIVILEGE_SEPARATION);
    },
  };
}

async function listening(daemon: ChildProcess): Promise<void> {
  let said = '';
  daemon.stderr?.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  await eventually(() => {
    if (daemon.exitCode !== null) throw new Error(`sshd ended: ${said}`);
    if (!said.includes('Server listening')) throw new Error(`sshd does not listen yet: ${said}`);
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
