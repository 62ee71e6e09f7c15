import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from './processes.js';

/** Whether containers are to be tried: it takes root, Debian's docker.io, and minutes. */
export const WANTS_DOCKER = process.env.FORKLINE_DOCKER === '1';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** A system without anything of ours, which takes a minute to make: it is kept. */
const SYSTEM = join(root, 'build/docker/system');
const IMAGE = 'forkline-test';

/** What containers need no more of than `docker exec`: no network, no driver that a machine may lack. */
const DAEMON = ['--storage-driver=vfs', '--iptables=false', '--ip6tables=false', '--bridge=none'];

/** A daemon, which may be the test's own. */
export interface Docker {
  /** What its clients need in their environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What `docker` prints. */
  run(...args: readonly string[]): string;
  stop(): Promise<void>;
}

/**
 * The machine's own daemon, or one that is started for the test.
 *
 * @param folder For what a daemon of the test's own has of files.
 * @throws Error There is none, and none can be started: with what it said.
 */
export async function startDocker(folder: string): Promise<Docker> {
  const own = clientOf({});
  if (answers(own)) return { env: {}, run: own, stop: async () => {} };
  const socket = `unix://${folder}/docker.sock`;
  const places = ['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'run')];
  const more = ['--pidfile', join(folder, 'pid'), '-H', socket];
  const daemon = spawn('dockerd', [...places, ...more, ...DAEMON], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const env = { DOCKER_HOST: socket };
  const run = clientOf(env);
  await listening(daemon, run);
  return { env, run, stop: () => ended(daemon, 'SIGTERM') };
}

/** Of a system with bash, Node and the built package, on whose PATH `forkline` is; its name. */
export function makeImage(docker: Docker, folder: string): string {
  if (!existsSync(SYSTEM)) makeSystem();
  const place = join(folder, 'added');
  mkdirSync(join(place, 'usr/local/bin'), { recursive: true });
  cpSync(process.execPath, join(place, 'usr/local/bin/node'), { dereference: true });
  for (const part of ['package.json', 'dist', 'native/prebuilt']) {
    cpSync(join(root, part), join(place, 'opt/forkline', part), { recursive: true });
  }
  symlinkSync('/opt/forkline/dist/cli.js', join(place, 'usr/local/bin/forkline'));
  const archive = join(folder, 'system.tar');
  // A folder that is in it twice is refused.
  const added = ['opt/forkline', 'usr/local/bin/node', 'usr/local/bin/forkline'];
  execFileSync('tar', ['-cf', archive, '-C', SYSTEM, '.', '-C', place, ...added]);
  docker.run('import', archive, IMAGE);
  rmSync(archive);
  rmSync(place, { recursive: true });
  return IMAGE;
}

function makeSystem(): void {
  // Node and the addon come from this machine, and so must the C library.
  const [, release = 'stable'] =
    /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
  const unfinished = `${SYSTEM}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  execFileSync('debootstrap', ['--variant=minbase', release, unfinished], { stdio: 'ignore' });
  renameSync(unfinished, SYSTEM);
}

/** A container that does nothing; its id. */
export function startContainer(docker: Docker, image: string): string {
  return docker.run('run', '-d', '--network=none', image, 'sleep', 'infinity').trim();
}

/** Command lines of all that is in a container, but for its own first process; zombies too. */
export function processesIn(docker: Docker, container: string): string[] {
  const [, ...lines] = docker.run('top', container, '-eo', 'pid,args').trim().split('\n');
  const commands = lines.map((line) => line.trim().replace(/^\d+\s+/, ''));
  return commands.filter((command) => command !== 'sleep infinity');
}

type Client = Docker['run'];

function clientOf(env: Readonly<Record<string, string>>): Client {
  return (...args) =>
    execFileSync('docker', args, {
      env: { ...process.env, ...env },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
}

function answers(client: Client): boolean {
  try {
    client('version', '--format', '{{.Server.Version}}');
    return true;
  } catch {
    return false;
  }
}

async function listening(daemon: ChildProcess, client: Client): Promise<void> {
  let said = '';
  let isOver = false;
  daemon.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk).slice(-4000);
  });
  daemon.on('error', (error) => {
    said += error.message;
  });
  daemon.on('close', () => {
    isOver = true;
  });
  try {
    await eventually(() => {
      if (!isOver && !answers(client)) throw new Error(`dockerd does not answer: ${said}`);
    }, 60_000);
  } catch (error) {
    await ended(daemon, 'SIGKILL');
    throw error;
  }
  if (isOver) throw new Error(`dockerd has ended: ${said}`);
}

async function ended(daemon: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const closed = new Promise((resolve) => daemon.once('close', resolve));
  daemon.kill(signal);
  await closed;
}
