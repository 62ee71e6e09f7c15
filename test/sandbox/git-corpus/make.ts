import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Repository } from './repositories/repository.js';

/**
 * The configuration of whoever has made them: the same bytes whenever git writes them, remotes in folders, and
 * few files to copy.
 */
const usersConfig = (home: string) => `[user]
	name = Somebody
	email = somebody@example.com
[init]
	defaultBranch = main
	templateDir = ${home}/template
[core]
	trustctime = false
	checkStat = minimal
	fsync = none
[protocol "file"]
	allow = always
[pack]
	threads = 1
[gc]
	auto = 0
[maintenance]
	auto = false
`;

/** What texts that make a repository can call: `commit TEXT` commits all there is, a minute after the last one. */
const COMMIT = `set -e; now=1700000000
  commit() { now=$((now + 60)); git add -A; GIT_AUTHOR_DATE="$now +0000" GIT_COMMITTER_DATE="$now +0000" git commit -qm "$@"; }`;

/** A place where a repository lies, always at the same path, since git's own files name it. */
export interface Place {
  readonly path: string;
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
  /** Puts what was made there again, whatever has become of it. */
  renew(): void;
}

/** Makes a repository in a folder, with a home beside it. */
export function make(folder: string, repository: Repository): Place {
  const path = join(folder, repository.name);
  const kept = `${path}.made`;
  const home = `${path}.home`;
  const date = '1700100000 +0000';
  const env = {
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
    GIT_EDITOR: 'true',
    LC_ALL: 'C',
  };
  for (const each of [path, home, `${home}/template/hooks`, `${home}/template/info`]) {
    mkdirSync(each, { recursive: true });
  }
  writeFileSync(`${home}/template/hooks/pre-commit.sample`, '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(`${home}/template/info/exclude`, '*~\n');
  writeFileSync(`${home}/.gitconfig`, usersConfig(home));
  const text = `${COMMIT}\n${repository.made}`;
  const { PATH } = process.env;
  const stdio = ['ignore', 'ignore', 'pipe'] as const;
  execFileSync('bash', ['-c', text], { cwd: path, env: { PATH, ...env }, stdio: [...stdio] });
  const copy = (from: string, to: string) => {
    rmSync(to, { recursive: true, force: true });
    cpSync(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  };
  copy(path, kept);
  return {
    path,
    workspace: join(path, repository.workspace ?? 'work'),
    env,
    renew: () => copy(kept, path),
  };
}
