import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/lab/**', 'test/distributed/**', 'node_modules/**'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: 'forks',
    // Most tests wait for sockets and timers: three at a time also on a machine with two processors.
    maxWorkers: 3,
    // A machine that stands still for seconds fails a test of deadlines. What passed only at the second attempt is
    // listed by `npm test`; what fails twice fails.
    retry: process.env.CI === 'true' ? 1 : 0,
  },
});
