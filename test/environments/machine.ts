import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** How a program ended. */
export interface Ended {
  readonly exitCode: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a program may take before it is ended, and so named with its output: less than a test may. */
const TIMEOUT_MS = 110_000;

/** What a user's computer has at the least: programs by name, in one directory, and no compiler. */
const PROGRAMS = [
  ...['bash', 'sh', 'env', 'uname', 'cat', 'sleep', 'head', 'tail', 'seq', 'yes'],
  ...['setsid', 'stty', 'test', 'kill'],
];

/** A computer without anything that compiles: an empty home, and a PATH of one directory. */
export class Machine {
  readonly home = mkdtempSync(join(tmpdir(), 'forkline-environment-'));
  readonly #bin = join(this.home, 'bin');
  readonly #env: NodeJS.ProcessEnv;

  /** @param registry The address of the only registry that it knows. */
  constructor(registry: string, node = process.execPath) {
    mkdirSync(this.#bin);
    symlinkSync(realpathSync(node), join(this.#bin, 'node'));
    for (const program of PROGRAMS) this.#link(program);
    this.#env = {
      PATH: this.#bin,
      HOME: this.home,
      npm_config_registry: registry,
      YARN_NPM_REGISTRY_SERVER: registry,
      // Of root, yarn 1 has a cache outside of the home directory.
      YARN_CACHE_FOLDER: join(this.home, 'yarn'),
      YARN_UNSAFE_HTTP_WHITELIST: '127.0.0.1',
      YARN_ENABLE_TELEMETRY: '0',
      YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
      BUN_CONFIG_REGISTRY: registry,
      npm_config_update_notifier: 'false',
      npm_config_verify_deps_before_run: 'false',
    };
  }

  /** Creates a directory with these files in it. */
  directory(name: string, files: Readonly<Record<string, string>> = {}): string {
    const path = join(this.home, name);
    mkdirSync(path);
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(path, file)), { recursive: true });
      writeFileSync(join(path, file), text);
    }
    return path;
  }

  run(cwd: string, command: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const [program = '', ...args] = command;
    const options = { cwd, env: { ...this.#env, ...env }, maxBuffer: 2 ** 26, timeout: TIMEOUT_MS };
    return new Promise((resolve) => {
      const child = execFile(program, args, options, (error, stdout, stderr) =>
        resolve({ exitCode: error ? (error.code ?? `${error.signal}`) : 0, stdout, stderr }),
      );
      child.stdin?.end();
    });
  }

  /** Waits a moment for sandboxes, which tidy their layers of caches after their host has ended. */
  remove(): void {
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }

  #link(program: string): void {
    for (const directory of (process.env.PATH ?? '').split(delimiter)) {
      try {
        symlinkSync(realpathSync(join(directory, program)), join(this.#bin, program));
        return;
      } catch {
        // It is elsewhere, or there is none.
      }
    }
  }
}
