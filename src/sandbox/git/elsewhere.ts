import { readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { homeDirectory, resolveFromHome } from '../../support/directories/home.js';
import { readGitConfig } from './config.js';
import { read, real } from './files.js';
import { obeyedIn } from './names.js';

/** The depth to which git follows included files. */
const MOST_INCLUDES = 10;
/** The most directories that are searched for submodules. */
const MOST_LOOKED_AT = 256;

/** A directory of git's, and the working trees in which its hooks run. */
interface Obeying {
  readonly directory: string;
  readonly worktrees: readonly string[];
}

/**
 * Returns the paths outside of git's directory that git obeys: the hooks and configurations that the repository's,
 * its worktrees', its submodules', the user's or the system's configuration names, and the targets of links.
 *
 * @param directory The git directory of a repository.
 * @param worktree A working tree of it.
 */
export function obeyedElsewhere(directory: string, worktree: string): readonly string[] {
  const found = new Set<string>();
  const repository = { directory, worktrees: worktreesOf(directory, worktree) };
  const all = [repository, ...submodulesOf(directory)];
  for (const obeying of all) {
    const configs = [obeying.directory, ...namesIn(join(obeying.directory, 'worktrees'))]
      .flatMap((place) => [join(place, 'config'), join(place, 'config.worktree')])
      .flatMap((path) => withIncluded(path));
    for (const path of configs) {
      found.add(path);
      for (const named of namedIn(path, obeying.worktrees)) found.add(named);
    }
    for (const target of targetsIn(obeying.directory)) found.add(target);
  }
  const worktrees = all.flatMap((obeying) => obeying.worktrees);
  for (const path of usersConfigs().flatMap((config) => withIncluded(config))) {
    found.add(path);
    for (const named of namedIn(path, worktrees)) found.add(named);
  }
  return [...found].filter((path) => !path.startsWith(`${directory}/`));
}

/** Returns the working trees of a repository, where they are known. */
function worktreesOf(directory: string, worktree: string): readonly string[] {
  const own = readGitConfig(join(directory, 'config')).get('core.worktree')?.at(-1);
  const linked = namesIn(join(directory, 'worktrees')).flatMap((place) => {
    const file = read(join(place, 'gitdir'));
    return file === undefined ? [] : [dirname(resolve(place, file))];
  });
  const main = own === undefined ? dirname(directory) : resolve(directory, own);
  // Without a working tree, as where a push arrives, hooks run in git's directory.
  return [...new Set([worktree, main, directory, ...linked])];
}

/** Returns the submodules of a repository, nested ones too; their names may have slashes. */
function submodulesOf(directory: string): readonly Obeying[] {
  const found: Obeying[] = [];
  const ahead = [...namesIn(join(directory, 'modules'))];
  for (let looked = 0; looked < MOST_LOOKED_AT; looked += 1) {
    const place = ahead.pop();
    if (place === undefined) break;
    const isRepository = read(join(place, 'HEAD')) !== undefined;
    ahead.push(...namesIn(isRepository ? join(place, 'modules') : place));
    if (!isRepository) continue;
    const [worktree = place] = readGitConfig(join(place, 'config')).get('core.worktree') ?? [];
    found.push({ directory: place, worktrees: worktreesOf(place, resolve(place, worktree)) });
  }
  return found;
}

/** Returns the configurations of the user and of the system. */
function usersConfigs(): readonly string[] {
  const { GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM, XDG_CONFIG_HOME } = process.env;
  const home = homeDirectory();
  const ofHome = (path: string) => (home === undefined ? '' : join(home, path));
  const xdg = XDG_CONFIG_HOME ? join(XDG_CONFIG_HOME, 'git/config') : ofHome('.config/git/config');
  const all = [GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM, ofHome('.gitconfig'), xdg, '/etc/gitconfig'];
  return all.flatMap((path) => path || []);
}

/** Returns a configuration and those that it includes, whatever the condition. */
function withIncluded(path: string, depth = MOST_INCLUDES): readonly string[] {
  if (depth < 0) return [];
  const included = [...readGitConfig(path)]
    .filter(([key]) => key === 'include.path' || /^includeif\..*\.path$/s.test(key))
    .flatMap(([, values]) => values.filter(Boolean))
    .flatMap((value) => resolveFromHome(dirname(path), value) ?? []);
  return [path, ...new Set(included.flatMap((one) => withIncluded(one, depth - 1)))];
}

const OBEYED_KEYS = ['core.hookspath', 'core.attributesfile', 'core.fsmonitor'];

/** Returns what a configuration names; relative paths are those in each working tree. */
function namedIn(config: string, worktrees: readonly string[]): readonly string[] {
  const settings = readGitConfig(config);
  const values = OBEYED_KEYS.flatMap((key) => settings.get(key) ?? []).filter(Boolean);
  // Without a home directory, git itself fails at a path that begins with `~`.
  return values.flatMap((value) =>
    worktrees.flatMap((worktree) => resolveFromHome(worktree, value) ?? []),
  );
}

/** Returns the targets of links among the names that git obeys, and among hooks. */
function targetsIn(directory: string): readonly string[] {
  const names = obeyedIn(directory);
  return [...names, ...linksIn(join(directory, 'hooks'))].flatMap((path) => {
    const target = real(path);
    return target === undefined || target === path ? [] : [target];
  });
}

/** Returns the paths of the links in a directory; what else is in it lies where the directory does. */
function linksIn(directory: string): readonly string[] {
  try {
    const all = readdirSync(directory, { withFileTypes: true });
    return all.filter((one) => one.isSymbolicLink()).map(({ name }) => join(directory, name));
  } catch {
    return [];
  }
}

/** Returns the paths of a directory's entries. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).map((name) => join(directory, name));
  } catch {
    return [];
  }
}
