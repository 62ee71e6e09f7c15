import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';
import { type BackgroundProcess, type MergedResult, type Receipt, run } from '../../src/index.js';
import { settlesWithin } from '../../src/support/timing.js';
import { startHost } from './hosts.js';
import { removeFolder } from './leftovers.js';

const isRoot = process.getuid?.() === 0;
const USER = 65_534;

/** Who runs the commands of a test: whoever runs the tests; and, if that is root, an ordinary user. */
export const people = isRoot ? (['root', 'an ordinary user'] as const) : (['a user'] as const);
export type Person = (typeof people)[number];

const isOther = (person: Person) => person === 'an ordinary user';

/** Tests for whoever runs them; and, among the slow ones, for the ordinary user that root can be as well. */
export function describeForAll(title: string, body: (person: Person) => void): void {
  for (const person of people) {
    const options = { tags: isOther(person) ? ['slow'] : [] };
    describe(title.replace('%s', person), options, () => body(person));
  }
}

/** Starts a program as somebody. */
export function as(person: Person): string[] {
  if (!isOther(person)) return [];
  return ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'];
}

/** A folder for the scenes of a file, where nothing is private that others would not see anyhow. */
export function useScenes(): { readonly path: string } {
  return useScenesIn(() => process.env.FORKLINE_SCENES ?? (isRoot ? '/srv' : homedir()));
}

/** The same by a short path, for sockets, whose paths have 107 bytes at most. */
export function useShortScenes(): { readonly path: string } {
  return useScenesIn(() => (isRoot ? '/srv' : homedir()));
}

function useScenesIn(placeOf: () => string): { readonly path: string } {
  let path = '';
  beforeAll(() => {
    path = mkdtempSync(join(placeOf(), 'scenes-'));
  });
  afterAll(() => removeFolder(path));
  return {
    get path() {
      return path;
    },
  };
}

/**
 * Has as many sandboxes stand from the first test of a file on as do where nothing runs: their descriptors stay. To be
 * called before descriptors are counted.
 */
export function fillSandboxes(): void {
  beforeAll(async () => {
    for (let count = 0; count < 33; count += 1) {
      const cwd = mkdtempSync(join(tmpdir(), 'forkline-cases-'));
      await run('true', { cwd, sandbox: 'workspace-write' });
      rmdirSync(cwd);
    }
  });
}

/** What there is to get at: a home with a secret, a workspace with a repository, and others' files. */
export interface Scene {
  readonly home: string;
  readonly work: string;
  readonly outside: string;
}

/** Makes a scene that belongs to somebody. */
export function makeScene(folder: string, person: Person): Scene {
  const path = mkdtempSync(join(folder, 'scene-'));
  const scene = {
    home: join(path, 'home'),
    work: join(path, 'work'),
    outside: join(path, 'outside'),
  };
  for (const part of [join(scene.home, '.ssh'), scene.work, scene.outside]) {
    mkdirSync(part, { recursive: true });
  }
  writeFileSync(join(scene.home, '.ssh/id_rsa'), 'the secret key\n');
  writeFileSync(join(scene.outside, 'file'), 'before\n');
  mkdirSync(join(scene.work, '.vscode'));
  writeFileSync(join(scene.work, '.vscode/settings.json'), '{}\n');
  execFileSync('git', ['init', '-q', scene.work], { stdio: 'ignore' });
  for (const open of [folder, path]) chmodSync(open, 0o755);
  give(person, path);
  return scene;
}

/** Has files, and all that is below them, belong to whoever runs commands. */
export function give(person: Person, ...paths: readonly string[]): void {
  if (isOther(person)) execFileSync('chown', ['-hR', `${USER}:${USER}`, ...paths]);
}

/** The command line of somebody outside, who listens; see `outsider.py`. */
export interface Outsider {
  readonly pid: number;
  readonly tcp: number;
  readonly udp: number;
  readonly segment: number;
  readonly key: number;
}

/** Starts him in a scene, as somebody. He ends with the test, and leaves nothing of his. */
export async function startOutsider(
  scene: Scene,
  person: Person,
): Promise<{ told: Outsider; child: ChildProcess }> {
  const script = fileURLToPath(new URL('outsider.py', import.meta.url));
  const [program = '', ...args] = [...as(person), '/usr/bin/python3', script, scene.outside];
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const ended = once(child, 'exit');
  const first = await lines.next();
  const told: Outsider = JSON.parse(first.value);
  onTestFinished(async () => {
    // He takes his key with him, of which a user may have 200.
    child.stdin.end();
    await settlesWithin(ended, 3000);
    child.kill('SIGKILL');
    rmSync(`/dev/shm/outsider-${told.pid}`, { force: true });
  });
  return { told, child };
}

/** What a command said that ended by itself. */
export interface Said {
  readonly text: string;
  readonly result: MergedResult;
}

/**
 * Runs one command as somebody who has this home, in a host of his own.
 *
 * @param variables The host's, besides.
 */
export async function runAs(
  person: Person,
  { home }: Pick<Scene, 'home'>,
  command: string,
  options: object,
  variables: NodeJS.ProcessEnv = {},
): Promise<Said> {
  const env = { HOME: home, XDG_STATE_HOME: '', npm_config_cache: undefined, ...variables };
  const host = startHost('commands', { under: as(person), env });
  const { result, error } = await host.run(command, { timeoutMs: 50_000, ...options });
  host.child.stdin?.end();
  await host.ended;
  if (result === undefined) throw Object.assign(new Error(error?.message), error);
  const { output } = result;
  return { text: output.kind === 'complete' ? output.text : output.head + output.tail, result };
}

/** What the host `detached` tells of a line. */
export interface DetachedAnswer {
  readonly id: string;
  readonly pid: number;
  readonly text: string;
  readonly state: string;
  readonly receipt?: Receipt;
  readonly members?: readonly BackgroundProcess[];
  readonly signalled?: boolean;
  readonly listed?: boolean;
  readonly error?: string;
  readonly step?: string;
}

/**
 * Starts that host as somebody who has this home, and keeps what is detached in it.
 *
 * @param under A program with arguments that starts it.
 */
export function detachingHost(
  person: Person,
  { home }: Pick<Scene, 'home'>,
  under: readonly string[] = [],
) {
  const env = { HOME: home, XDG_STATE_HOME: '', TMPDIR: home, npm_config_cache: undefined };
  const host = startHost('detached', { under: [...as(person), ...under], env });
  const ask = (line: object): Promise<DetachedAnswer> => {
    host.child.stdin?.write(`${JSON.stringify(line)}\n`);
    return host.next<DetachedAnswer>();
  };
  const end = async () => {
    host.child.stdin?.end();
    await host.ended;
  };
  return { host, ask, end };
}

/** Runs one command as somebody, detached, until nobody of it is left. */
export async function runDetachedAs(
  person: Person,
  scene: Scene,
  command: string,
  options: object,
): Promise<DetachedAnswer> {
  const { ask, end } = detachingHost(person, scene);
  const { id, error } = await ask({ start: command, options: { timeoutMs: 50_000, ...options } });
  if (error !== undefined) throw new Error(error);
  const answer = await ask({ id, until: ['ended', 'lost'] });
  await end();
  return answer;
}
