import { builds, staleness } from '../../scripts/suite/stale.mjs';
import { root } from './house.js';

/** One line for what is missing, or older than what it is built of. */
export function staleBuilds(): string[] {
  return builds.flatMap((build) => {
    const state = staleness(root, build);
    if (state === undefined || build.optional) return [];
    return [`${state}: tests of what is built may tell of what was; npm run ${build.script}`];
  });
}

/** Called by vitest before all tests. */
export function setup(): void {
  for (const line of staleBuilds()) console.warn(`forkline: ${line}`);
}
