import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { KEPT } from './tarballs.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** forkline and the platform packages of the binaries that were built, as they are published. */
    tarballs: string[];
  }
}

/** Called by vitest before all of these tests: packs what they install. */
export function setup(project: TestProject): void {
  const directory = join(KEPT, 'tarballs');
  rmSync(directory, { recursive: true, force: true });
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const args = ['scripts/pack.mjs', directory];
  const paths = execFileSync(process.execPath, args, { cwd, encoding: 'utf8' });
  project.provide('tarballs', paths.trim().split('\n'));
}
