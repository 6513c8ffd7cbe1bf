import { defineConfig } from 'vitest/config';

/** A configuration of its own: what many hosts do together takes minutes. */
export default defineConfig({
  test: {
    include: ['test/distributed/**/*.test.ts'],
    globalSetup: ['test/run-folder.ts'],
    testTimeout: 240_000,
    hookTimeout: 60_000,
    pool: 'forks',
    disableConsoleIntercept: true,
  },
});
