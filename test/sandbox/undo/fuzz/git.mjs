// Steps of commands in a git repository.
import { execFileSync } from 'node:child_process';
import { inBash, namesOf } from './names.mjs';

/** @typedef {import('./random.mjs').Random} Random */
/** @typedef {import('./trees.mjs').Tree} Tree */

const NAMED = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'core.hooksPath=/dev/null'];
const QUIET = ['-c', 'gc.auto=0', '-c', 'maintenance.auto=false'];

/**
 * Makes a repository of a tree, with three commits and two branches.
 *
 * @param {string} path
 * @param {number | undefined} user Whose it is.
 */
export function makeRepository(path, user) {
  const owner = user === undefined ? {} : { uid: user, gid: user };
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
  /** @param {string[]} args */
  const git = (...args) => {
    try {
      execFileSync('git', [...NAMED, ...QUIET, ...args], {
        cwd: path,
        stdio: 'ignore',
        env,
        ...owner,
      });
    } catch {
      // Files that can't be read are not in it.
    }
  };
  git('init', '-q', '-b', 'main');
  git('add', '-A', '--ignore-errors');
  git('commit', '-qm', 'one', '--allow-empty');
  git('checkout', '-qb', 'side');
  git('commit', '-qm', 'two', '--allow-empty');
  git('checkout', '-q', 'main');
  git('commit', '-qm', 'three', '--allow-empty');
}

/**
 * @param {Random} random
 * @param {Tree} tree
 */
export function gitStep(random, tree) {
  const worked = Object.entries(tree).filter(([path]) => !/^\.git(\/|$)/.test(path));
  const { file, any } = namesOf(random, Object.fromEntries(worked), inBash);
  const step = random.text([
    () => `add -A`,
    () => `commit -qam work --allow-empty`,
    () => `commit -q --amend -m other --allow-empty`,
    () => `checkout -q side`,
    () => `checkout -q -- .`,
    () => `checkout -qb more`,
    () => `stash -u -q`,
    () => `stash pop -q`,
    () => `rebase -q side`,
    () => `merge -q side -m merged`,
    () => `reset -q --hard HEAD~1`,
    () => `clean -qfdx`,
    () => `gc -q --prune=now`,
    () => `rm -q -f --cached ${any()}`,
    () => `mv -f ${file()} moved`,
    () => `tag v1`,
    () => `branch -D side`,
    () => `pack-refs --all`,
    () => `reflog expire --expire=now --all`,
  ]);
  return `echo edit >>${file()}; git ${[...NAMED, ...QUIET].join(' ')} ${step} </dev/null`;
}
