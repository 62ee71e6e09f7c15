import { execFile, execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { removeFolder } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';

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
      removeFolder(home);
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

/** For a file that is run by itself. */
const own = () => {
  const folder = mkdtempSync(join(tmpdir(), 'forkline-tarballs-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
};

/**
 * The main package and that of this platform, packed as they are built now; once for all files of a run:
 * whoever comes first packs, others wait.
 */
export async function packEverything(): Promise<Tarballs> {
  const folder = join(process.env.FORKLINE_RUN ?? own(), 'tarballs');
  const list = join(folder, 'list');
  if (isFirst(folder)) {
    try {
      writeFileSync(`${list}.new`, output(process.execPath, ['scripts/pack.mjs', folder]));
    } catch (error) {
      rmSync(folder, { recursive: true });
      throw error;
    }
    renameSync(`${list}.new`, list);
  }
  const tarballs = await eventually(() => readFileSync(list, 'utf8').split('\n'), 240_000);
  const [main] = tarballs;
  const platform = tarballs.find((path) => path.includes(`linux-${process.arch}-gnu`));
  if (!main || !platform) throw new Error(`scripts/pack.mjs made ${tarballs.join(', ')}`);
  return { main, platform, far: tarballs.find((path) => path.includes('forkline-far-')) };
}

function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function output(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { cwd: root, encoding: 'utf8' }).trim();
}
