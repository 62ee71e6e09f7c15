import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect as connectSocket, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach } from 'vitest';
import { Broker } from '../../src/fleet/line/broker.js';
import { accessOf } from '../../src/fleet/line/broker-access.js';
import { program } from './cli.js';
import { programPath } from './needs.js';
import { eventually } from './processes.js';

/** A broker of the test's own, on a free port of loopback. */
export interface Nats {
  readonly url: string;
  /** Ends it as a crash would, unless it was stopped, and starts it again at the same place. */
  restart(awayMs?: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts one. @param config More of its configuration. */
export async function startNats(folder: string, config = ''): Promise<Nats> {
  const port = await freePort();
  const file = join(folder, `nats-${port}.conf`);
  writeFileSync(file, `host: 127.0.0.1\nport: ${port}\n${config}\n`);
  let server: ChildProcess;
  const start = async () => {
    server = spawn(programPath('nats-server') ?? 'nats-server', ['-c', file], { stdio: 'ignore' });
    await eventually(() => reachable(port));
  };
  const stop = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once('close', resolve));
    server.kill('SIGKILL');
    await ended;
  };
  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    stop,
    async restart(awayMs = 0) {
      await stop();
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      await start();
    },
  };
}

/** Makes a certificate for `localhost` in a folder, with its key: two files. */
export function makeCertificate(folder: string): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=forkline', '-addext', 'subjectAltName=DNS:localhost'];
  const files = ['-keyout', key, '-out', cert, '-days', '2', '-nodes'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...files, ...subject], {
    stdio: 'ignore',
  });
  return { cert, key };
}

/** The broker of a file's tests. */
export async function useNats(folder: string, config?: string): Promise<Nats> {
  const nats = await startNats(folder, config);
  afterAll(() => nats.stop());
  return nats;
}

/** A connection of the test's own. */
export async function brokerAt(servers: string): Promise<Broker> {
  return Broker.connect(await accessOf({ servers }, '_INBOX'));
}

/** A worker in a process of its own. */
export interface WorkerProcess {
  readonly id: string;
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
}

const started = new Set<ChildProcess>();
afterEach(() => {
  for (const child of started) child.kill('SIGKILL');
  started.clear();
});

/** Starts a worker, and waits until it serves; it is killed after the test. */
export async function startWorker(
  url: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [program, 'serve', '--nats', url, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  });
  started.add(child);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const id = await new Promise<string>((resolve, reject) => {
    let said = '';
    child.stderr.on('data', (text: Buffer) => {
      said += text.toString();
      const [, found] = /worker (\w+) serves/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('close', () => reject(new Error(`the worker ended: ${said}`)));
  });
  return { id, child, ended };
}

async function reachable(port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connectSocket(port, '127.0.0.1');
    socket.once('error', reject);
    // It speaks first.
    socket.once('data', () => {
      socket.destroy();
      resolve();
    });
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new TypeError('expected a port');
  return address.port;
}
