import { defineConfig } from 'vitest/config';

// Where forkline runs: package managers, runtimes, bundlers, another C library. What is needed for
// that is downloaded, so these tests are not among those of `npm test`.
export default defineConfig({
  test: {
    include: ['test/environments/**/*.env.ts'],
    globalSetup: ['test/support/stale.ts', 'test/environments/setup.ts'],
    pool: 'forks',
    fileParallelism: false,
    // Of tests that say so: they wait more than they compute.
    maxConcurrency: 2,
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});
