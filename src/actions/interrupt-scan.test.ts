import { expect, it } from 'vitest';
import { isDeadCommandLine, liveCommandLine } from './interrupt-scan.ts';

/** No process has such a number. */
const gone = 99_999_999;

it('whether a command line is gone can be told in its own workspace only', () => {
  expect(liveCommandLine(`cli:${process.pid}`, 'server')).toBe(process.pid);
  expect(liveCommandLine(`cli:${gone}`, 'server')).toBeNull();
  expect(isDeadCommandLine(`cli:${gone}:here`, 'server:here')).toBe(true);
  expect(isDeadCommandLine(`cli:${gone}:there`, 'server:here')).toBe(false);
  expect(liveCommandLine(`cli:${gone}:there`, 'server:here')).toBe(gone);
  expect([liveCommandLine('server:here', 'server:here'), liveCommandLine(null, 'server')]).toEqual([
    null,
    null,
  ]);
});
