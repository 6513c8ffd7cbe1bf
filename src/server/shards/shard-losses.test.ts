import { expect, it } from 'vitest';
import { leavesUntried } from '../../domain/scan.ts';
import type { ShardOutcome } from '../../worker/shard-report.ts';
import { lossesOf, warningsOf } from './shard-summary.ts';

it('a lost or failed shard, or one that could not send something, makes the whole scan partial', () => {
  const failed = { error: { code: 'permission', message: 'no raw packets' } } as unknown as ShardOutcome;
  const fine = { error: null } as unknown as ShardOutcome;
  expect(leavesUntried(lossesOf([{ state: 'done' }], [fine]))).toBe(false);
  expect(leavesUntried(lossesOf([{ state: 'failed' }], []))).toBe(true);
  expect(leavesUntried(lossesOf([{ state: 'done' }], [failed]))).toBe(true);
  const slowed = { code: 'host_slowed', message: '' };
  expect(leavesUntried(warningsOf([{ warnings: [slowed] }]))).toBe(false);
  const unsent = { code: 'packets_not_sent', message: '' };
  expect(leavesUntried(warningsOf([{ warnings: [slowed] }, { warnings: [unsent] }]))).toBe(true);
});
