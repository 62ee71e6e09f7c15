import { defineConfig } from 'vitest/config';

// The tests are about processes: each file gets a process of its own, and files run one after
// another so that none measures or counts what another one started.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/stale.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
