import { statSync } from 'node:fs';
import { join } from 'node:path';
import { filesIn, root } from './house.js';

/** What is built of what, and by which script. */
const builds = [
  { made: 'dist', of: ['src', 'scripts/build-ts.mjs'], script: 'build:ts' },
  { made: 'native/prebuilt', of: ['native', 'Cargo.lock'], script: 'build:native' },
] as const;

const changedAt = (path: string): number => statSync(join(root, path)).mtimeMs;

function newest(paths: readonly string[]): number {
  const files = paths.flatMap((path) =>
    statSync(join(root, path)).isDirectory() ? filesIn(path) : [path],
  );
  return Math.max(...files.map(changedAt));
}

/** One line for what is missing, or older than what it is built of. */
export function staleBuilds(): string[] {
  return builds.flatMap(({ made, of, script }) => {
    const files = filesIn(made);
    const oldest = Math.min(...files.map(changedAt));
    if (files.length > 0 && oldest >= newest(of)) return [];
    const state = files.length === 0 ? 'is missing' : `is older than ${of[0]}`;
    return [`${made} ${state}: tests of what is built may tell of what was; npm run ${script}`];
  });
}

/** Called by vitest before all tests. */
export function setup(): void {
  for (const line of staleBuilds()) console.warn(`forkline: ${line}`);
}
