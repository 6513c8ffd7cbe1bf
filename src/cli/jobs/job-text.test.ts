import { expect, it } from 'vitest';
import type { Job } from '../../domain/job.ts';
import { lastText } from './job-text.ts';

const now = Date.parse('2026-11-30T23:00:00Z');
const last = (last_status: Job['last_status'], last_run_at: string | null, found?: number) =>
  lastText({ last_status, last_run_at } as Job, now, found);

it('says how the last run ended, what was new, and when', () => {
  expect(last(null, null)).toBeNull();
  expect(last('failed', null)).toBe('failed');
  expect(last('completed', '2026-11-30T22:51:00.000Z', 0)).toBe('completed, 9 min ago');
  expect(last('completed', '2026-11-30T22:51:00.000Z', 1204)).toBe('completed, 1,204 new, 9 min ago');
});
