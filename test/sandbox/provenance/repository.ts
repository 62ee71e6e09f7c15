import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { git, write } from '../../support/checkouts.js';
import { give, makeScene, type Person, people, runAs, type Scene } from '../../support/sandbox.js';

/** Settings whose contents are `main` and `release` on these branches; the branch `without` has none. */
export const SETTINGS = ['.npmrc', '.vscode/settings.json', '.config/fish/config.fish'] as const;

/** A setting that every commit has. */
export const ALWAYS = '.mcp.json';

/**
 * Makes a scene whose workspace is a repository with settings of each branch.
 *
 * @param scripts Files beside the tests that commands start.
 */
export function makeHistory(folder: string, person: Person, ...scripts: readonly string[]): Scene {
  const scene = makeScene(folder, people[0]);
  const { work } = scene;
  for (const name of ['.vscode', '.git']) rmSync(join(work, name), { recursive: true });
  execFileSync('git', ['init', '-q', '-b', 'main', work]);
  git(work, 'config', 'user.email', 'somebody@example.com');
  git(work, 'config', 'user.name', 'Somebody');
  write(work, ALWAYS, 'first\n');
  write(work, '.config/other', 'first\n');
  for (const script of scripts) {
    copyFileSync(fileURLToPath(new URL(script, import.meta.url)), join(work, script));
  }
  git(work, 'add', '.');
  git(work, 'commit', '-qm', 'first');
  for (const branch of ['main', 'release']) {
    git(work, 'checkout', '-q', '-B', branch);
    for (const file of [...SETTINGS, ALWAYS]) write(work, file, `${branch}\n`);
    git(work, 'add', '.');
    git(work, 'commit', '-qm', branch);
  }
  git(work, 'branch', 'without', 'main~');
  git(work, 'checkout', '-q', 'main');
  give(person, join(work, '..'));
  return scene;
}

/** Runs a command of somebody in the workspace. Returns its text. */
export async function inWorkspace(
  person: Person,
  scene: Scene,
  command: string,
  variables: NodeJS.ProcessEnv = {},
): Promise<string> {
  const options = { cwd: scene.work, sandbox: 'workspace-write' };
  return (await runAs(person, scene, command, options, variables)).text;
}

/** Returns the path and the reason of each change that is held back. */
export function heldIn({ home }: Scene): readonly string[] {
  const folder = join(home, '.local/state/forkline/held');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((id) => {
    const fields = readFileSync(join(folder, id, 'record'), 'utf8').split('\0');
    const wordOf = (word: string) => fields[fields.indexOf(word) + 1];
    return `${wordOf('path')} ${wordOf('reason')}`;
  });
}
