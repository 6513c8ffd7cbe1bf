import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Compiled code is kept between runs: a process that starts from sources takes a quarter of the time.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/portolan-tests');

/** Tests of the whole program, and a few others that wait for most of a minute. */
const long =
  /\/test\/|tls-enumeration|banner_grabber|notifier|pause\.|reuse\.|worker-pool|plugins\/session\/(?:hostile|wasm)\./;

/** The long ones first: one that begins last would run alone. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => long.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

const integration = '**/*.integration.test.ts';
const root = '**/*.root.test.ts';
const system = '**/*.system.test.ts';
/** These have a configuration of their own. */
const elsewhere = ['test/lab/**', 'test/distributed/**', 'node_modules/**'];

/** The tiers, see CONTRIBUTING.md: the end of a file's name says what its tests need. */
export default defineConfig({
  test: {
    // Node strips the types itself, as in production: vitest would transform each file for each run.
    experimental: { viteModuleRunner: false },
    sequence: { sequencer: LongFirst },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    pool: 'forks',
    // Threads of a test strip types in WebAssembly. When V8 replaces a wrapper that another thread's isolate has just freed, it
    // ends the process ("Check failed: jit_page.has_value()", Node 24.21): with this budget no wrapper is replaced.
    execArgv: ['--wasm-wrapper-tiering-budget=1000000000'],
    // Most tests wait for sockets and timers: four at a time also on a machine with two processors.
    maxWorkers: 4,
    // Test files keep nothing outside of themselves: several in one process save a second of loading each.
    isolate: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts'],
          exclude: [integration, root, system],
          setupFiles: ['test/unit-guard.ts', 'test/real-time.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'ui',
          include: ['ui/src/**/*.test.ts'],
          setupFiles: ['test/unit-guard.ts', 'test/real-time.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          globalSetup: ['test/run-folder.ts'],
          setupFiles: ['test/count-starts.ts', 'test/foreign-connections.ts', 'test/real-time.ts'],
          include: [`src/${integration}`, 'test/**/*.test.ts'],
          exclude: [...elsewhere, 'test/browser/**', root, system],
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          globalSetup: ['test/run-folder.ts'],
          setupFiles: ['test/count-starts.ts', 'test/foreign-connections.ts', 'test/real-time.ts'],
          include: [`src/${system}`, `test/${system}`],
        },
      },
      {
        extends: true,
        test: {
          name: 'root',
          globalSetup: ['test/run-folder.ts'],
          include: [`src/${root}`, `test/${root}`],
          exclude: elsewhere,
          setupFiles: ['test/count-starts.ts', 'test/foreign-connections.ts', 'test/real-time.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: ['test/browser/ui/build-once.ts'],
          setupFiles: ['test/count-starts.ts'],
        },
      },
    ],
  },
});
