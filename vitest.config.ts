import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests of the whole program, and a few others that wait for most of a minute. */
const long = /\/test\/|tls-survey|banner_grabber|notifier|pause\.test/;

/** The long ones first: one that begins last would run alone. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => long.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // Where tests of one file run at the same time they wait: for a timeout, or for a process of theirs.
    maxConcurrency: 8,
    // Longer than a loaded machine stands still: what is polled comes, or does not come at all.
    expect: { poll: { timeout: 15_000 } },
    pool: 'forks',
    // Most tests wait for sockets and timers: three at a time also on a machine with two processors.
    maxWorkers: 3,
    // A machine that stands still for seconds fails a test of deadlines. What passed only at the second attempt is
    // listed by `npm test`; what fails twice fails.
    retry: process.env.CI === 'true' ? 1 : 0,
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/lab/**', 'test/distributed/**', 'node_modules/**'],
    // Test files keep nothing outside of themselves: several in one process save a second of loading each.
    isolate: false,
  },
});
