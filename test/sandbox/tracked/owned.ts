import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { git } from '../../support/checkouts.js';
import { makeScene, people, type Scene } from '../../support/sandbox.js';

/** Makes a scene of whoever runs the tests, whose repository has no settings yet, and an author. */
export function makeOwned(folder: string): Scene {
  const scene = makeScene(folder, people[0]);
  rmSync(join(scene.work, '.vscode'), { recursive: true });
  git(scene.work, 'config', 'user.email', 'somebody@example.com');
  git(scene.work, 'config', 'user.name', 'Somebody');
  return scene;
}
