import { defineConfig } from 'vitest/config';

/** A configuration of its own, so that `vitest run` at the top never starts the fleet. */
export default defineConfig({
  test: {
    include: ['test/lab/**/*.test.ts'],
    globalSetup: ['test/lab/fleet.ts'],
    testTimeout: 60_000,
    hookTimeout: 240_000,
    teardownTimeout: 30_000,
    pool: 'forks',
    // They wait for the most part: for servers, rates and silence.
    maxWorkers: 4,
    disableConsoleIntercept: true,
  },
});
