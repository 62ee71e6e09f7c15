import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import type { MergedResult } from '../../src/index.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A process of its own that uses the built package: what it says, and how it ends. */
export interface Host {
  readonly child: ChildProcess;
  /** The next thing that it reports. */
  next<T>(): Promise<T>;
  /** Has `commands.mjs` run a command. */
  run(command: string, options?: object): Promise<HostAnswer>;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** What `commands.mjs` says of a command. */
export interface HostAnswer {
  readonly result?: MergedResult;
  readonly error?: {
    readonly name: string;
    readonly code: string;
    readonly step: string;
    readonly message: string;
  };
}

export interface HostOptions {
  readonly args?: readonly string[];
  /** A program with arguments that starts the host, such as `unshare`. */
  readonly under?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Where the package and the hosts are. Default: this checkout. */
  readonly from?: string;
  readonly stdio?: StdioOptions;
}

const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts one of the programs in `hosts/`; it is killed after the test if it still runs. */
export function startHost(name: string, options: HostOptions = {}): Host {
  const script = join(options.from ?? root, 'test/support/hosts', `${name}.mjs`);
  const [program = '', ...args] = [
    ...(options.under ?? []),
    process.execPath,
    script,
    ...(options.args ?? []),
  ];
  const child = spawn(program, args, {
    stdio: options.stdio ?? ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...options.env },
  });
  running.add(child);
  const ended = new Promise<Awaited<Host['ended']>>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      running.delete(child);
      resolve({ code, signal });
    });
  });
  const lines = child.stdout && createInterface(child.stdout)[Symbol.asyncIterator]();
  async function next<T>(): Promise<T> {
    const line = await lines?.next();
    if (!line || line.done) throw new Error(`the host ended: ${JSON.stringify(await ended)}`);
    return JSON.parse(line.value);
  }
  async function run(command: string, runOptions: object = {}): Promise<HostAnswer> {
    child.stdin?.write(`${JSON.stringify({ command, options: runOptions })}\n`);
    return next<HostAnswer>();
  }
  return { child, next, run, ended };
}

/** Runs a host that reports one thing and ends. */
export async function runHost<T>(name: string, options: HostOptions = {}): Promise<T> {
  const host = startHost(name, options);
  const report = await host.next<T>();
  host.child.stdin?.end();
  await host.ended;
  return report;
}

/** `unshare`, by whoever runs the tests: root, or a user who becomes it in a namespace. */
export function namespaces(...flags: readonly string[]): string[] {
  return ['unshare', ...(process.getuid?.() === 0 ? [] : ['-Ur']), ...flags];
}

/** The number of whoever runs the tests once more, who would be root in {@link namespaces}. */
export function asOneself(): string[] {
  const [user, group] = [process.getuid?.(), process.getgid?.()];
  return user === 0 ? [] : ['unshare', '-U', `--map-user=${user}`, `--map-group=${group}`];
}

/** A copy of the built package and the hosts that any user can read. */
export function publicCopy(folder: string): string {
  mkdirSync(folder, { mode: 0o755 });
  for (const part of ['package.json', 'dist', 'native/prebuilt', 'test/support/hosts']) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
  return folder;
}
