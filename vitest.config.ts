import { defineConfig } from 'vitest/config';

// The tests are about processes: each file gets a process of its own, and files run one after
// another so that none measures or counts what another one started.
export default defineConfig({
  cacheDir: 'build/vite',
  test: {
    // Another name, for the runner's own test.
    include: [process.env.FORKLINE_TESTS ?? 'test/**/*.test.ts'],
    globalSetup: ['test/support/stale.ts'],
    // `npm test` leaves them out, `npm run test:slow` runs them alone, `npm run test:all` runs all.
    tags: [{ name: 'slow', description: 'takes long, or asks much the same many times' }],
    pool: 'forks',
    // Each file's process would transform all of the sources again.
    experimental: { fsModuleCache: true, fsModuleCachePath: 'build/vite/modules' },
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
