import { expect, it } from 'vitest';
import { commandLineExecutor, commandLineOf, serverExecutor, serverOf } from './executor.ts';

it('who runs a scan is a server or a command line, alone or in the workspace of one of several', () => {
  const parts = (executor: string) => [executor, serverOf(executor), commandLineOf(executor)];
  expect(
    [
      serverExecutor(null),
      serverExecutor('a1'),
      commandLineExecutor(42, null),
      commandLineExecutor(42, 'a1'),
    ].map(parts),
  ).toEqual([
    ['server', null, null],
    ['server:a1', 'a1', null],
    ['cli:42', null, 42],
    ['cli:42:a1', 'a1', 42],
  ]);
});
