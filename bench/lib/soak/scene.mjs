// Where a long life takes place: everything that is written is written below one folder, and looked for there.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Makes the folder, and has this process and its commands use it. To be called before forkline is imported,
 * since some modules read the environment at once.
 */
export function makeScene() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'forkline-soak-')));
  const scene = {
    /** All of it. */
    folder,
    temporary: join(folder, 'tmp'),
    state: join(folder, 'state'),
    home: join(folder, 'home'),
    /** A git repository, in which sandboxed commands work. */
    repository: join(folder, 'repository'),
    /** An rc file for shell snapshots. */
    rcFile: join(folder, 'home/.bashrc'),
  };
  for (const path of [scene.temporary, scene.state, scene.home]) mkdirSync(path, { mode: 0o700 });
  process.env.TMPDIR = scene.temporary;
  process.env.XDG_STATE_HOME = scene.state;
  process.env.HOME = scene.home;
  writeFileSync(scene.rcFile, 'alias ll="ls -l"\ngreet() { echo "hello $1"; }\nexport SOAK=1\n');
  const git = (/** @type {string[]} */ ...words) =>
    execFileSync('git', ['-C', scene.repository, ...words], { stdio: 'ignore' });
  execFileSync('git', ['init', '-q', scene.repository], { stdio: 'ignore' });
  writeFileSync(join(scene.repository, 'file'), 'text\n');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@a.test', 'commit', '-qm', 'first');
  return scene;
}

/** @typedef {ReturnType<typeof makeScene>} Scene */
