import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Finished {
  exitCode: number | string;
  stdout: string;
  stderr: string;
}

interface Place {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

export function execute(program: string, args: readonly string[], at: Place): Promise<Finished> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { ...at, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      resolve({ exitCode: error ? (error.code ?? `${error.signal}`) : 0, stdout, stderr }),
    );
    child.stdin?.end();
  });
}

/** A program of a machine, as a client of MCP starts it. */
export interface Start {
  readonly command: string;
  readonly args: string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
}

/** A directory that stands for a computer of its own. */
export interface Machine {
  /** Creates an empty directory on it. */
  directory(name: string): string;
  /** How others start a program on it. */
  start(cwd: string, command: readonly string[]): Start;
  run(cwd: string, command: readonly string[], env?: NodeJS.ProcessEnv): Promise<Finished>;
  remove(): void;
}

/**
 * A machine with Node, npm and a shell, and nothing that could compile anything: PATH is one
 * directory of links, the home directory is empty, and no other variable is inherited.
 */
export function bareMachine(): Machine {
  const home = mkdtempSync(join(tmpdir(), 'forkline-machine-'));
  const bin = join(home, 'bin');
  const base = { PATH: bin, HOME: home, npm_config_update_notifier: 'false' };
  mkdirSync(bin);
  for (const program of ['node', 'npm', 'npx', 'sh', 'bash']) {
    symlinkSync(realpathSync(which(program)), join(bin, program));
  }
  return {
    directory(name) {
      const path = join(home, name);
      mkdirSync(path);
      return path;
    },
    start: (cwd, [program = '', ...args]) => ({
      command: join(bin, program),
      args,
      cwd,
      env: base,
    }),
    run(cwd, [program = '', ...args], env) {
      return execute(join(bin, program), args, { cwd, env: { ...base, ...env } });
    },
    remove() {
      rmSync(home, { recursive: true });
    },
  };
}

const which = (program: string) => output('/bin/sh', ['-c', `command -v ${program}`]);

export interface Tarballs {
  main: string;
  platform: string;
  /** The far side without Node, where it was built. */
  far: string | undefined;
}

/** Packs the main package and that of this platform as they are built now. */
export function packEverything(destination: string): Tarballs {
  const tarballs = output(process.execPath, ['scripts/pack.mjs', destination]).split('\n');
  const [main] = tarballs;
  const platform = tarballs.find((path) => path.includes(`linux-${process.arch}-gnu`));
  if (!main || !platform) throw new Error(`scripts/pack.mjs made ${tarballs.join(', ')}`);
  return { main, platform, far: tarballs.find((path) => path.includes('forkline-far-')) };
}

function output(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { cwd: root, encoding: 'utf8' }).trim();
}
