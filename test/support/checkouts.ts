import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { incompleteNotice, type RunResult } from '../../src/index.js';
import { makeScene, people, runAs } from './sandbox.js';

const [me] = people;

/** What commands of these tests do. */
export const MOVE = 'git checkout -q release';
export const COMMIT = 'echo fix > a && git commit -qam fix';

/** What git says in a repository, outside of a sandbox. */
export function git(work: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-C', work, ...args], { encoding: 'utf8' }).trim();
}

/** Writes a file, outside of a sandbox. */
export function write(work: string, file: string, text: string): void {
  mkdirSync(dirname(join(work, file)), { recursive: true });
  writeFileSync(join(work, file), text);
}

/** A repository with this file on `main`, another one on `release`, and none on `without`. */
export function makeRepository(scenes: { readonly path: string }, file: string): string {
  const { work } = makeScene(scenes.path, me);
  rmSync(join(work, '.vscode'), { recursive: true });
  git(work, 'config', 'user.email', 'somebody@example.com');
  git(work, 'config', 'user.name', 'Somebody');
  git(work, 'checkout', '-q', '-b', 'main');
  write(work, 'a', 'a\n');
  write(work, file, 'main\n');
  git(work, 'add', '.');
  git(work, 'commit', '-qm', 'main');
  git(work, 'checkout', '-q', '-b', 'release');
  write(work, file, 'release\n');
  git(work, 'commit', '-qam', 'release');
  git(work, 'checkout', '-q', '-b', 'without', 'main');
  git(work, 'rm', '-q', file);
  git(work, 'commit', '-qm', 'without');
  git(work, 'checkout', '-q', 'main');
  return work;
}

/** A sandbox in which git can replace no kept file. */
export const KEEPING = { settings: 'read-only' } as const;

/** Runs a command in such a sandbox of a repository, each in a host of its own. */
export async function inSandbox(
  work: string,
  command: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RunResult> {
  const options = { cwd: work, sandbox: KEEPING, env };
  return (await runAs(me, { home: join(work, '../home') }, command, options)).result;
}

/** What is said of a result before all else. */
export const noticeOf = ({ sandbox }: RunResult): string | undefined => incompleteNotice(sandbox);
