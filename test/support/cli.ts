import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';

export const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const started: ChildProcess[] = [];
afterEach(() => {
  // One that hangs has failed its test, and should not outlive it; the others are gone.
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

/** Starts the built command line with its output in pipes. */
export function startCli(...args: readonly string[]): ChildProcess {
  return startCliOn(['ignore', 'pipe', 'pipe'], ...args);
}

/** The same, with its standard streams where a test wants them. */
export function startCliOn(stdio: StdioOptions, ...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [program, ...args], { stdio });
  started.push(child);
  return child;
}

/** Waits for the end of a process, and collects what it prints until then. */
export function endOf(child: ChildProcess): Promise<CliResult> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const text = Buffer.concat(stderr).toString();
      resolve({ code, signal, stdout: Buffer.concat(stdout), stderr: text });
    });
  });
}

/** Runs the built command line to its end. */
export function cli(...args: readonly string[]): Promise<CliResult> {
  return endOf(startCli(...args));
}
