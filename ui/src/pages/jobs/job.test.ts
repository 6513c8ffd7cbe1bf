import { describe, expect, it } from 'vitest';
import { comparedRun, type Job, jobMatches, jobTitle, lastState, targetsText, tookOf } from './job.ts';

const job = (changes: Partial<Job> = {}): Job => ({
  job_id: 'job-1',
  type: 'scan',
  params: { targets: ['10.0.0.1'] },
  schedule: null,
  pool: 'default',
  priority: 5,
  name: null,
  status: 'pending',
  last_status: null,
  progress: 0,
  scan_id: null,
  run_count: 0,
  last_run_at: null,
  next_run_at: null,
  next_runs: [],
  runs: [],
  created_at: '2026-01-01T00:00:00Z',
  started_at: null,
  completed_at: null,
  error: null,
  created_by: null,
  ...changes,
});
const run = (scan_id: string | null, status: Job['runs'][number]['status']) => ({
  scan_id,
  status,
  started_at: '2026-01-01T00:00:00Z',
  completed_at: status === 'running' ? null : '2026-01-01T00:01:00Z',
});

describe('a job', () => {
  it('is named, or known by its targets', () => {
    expect(jobTitle(job({ name: 'DMZ nightly' }))).toBe('DMZ nightly');
    expect(jobTitle(job())).toBe('10.0.0.1');
    expect(jobTitle(job({ params: {} }))).toBe('job-1');
  });

  it('counts the targets that are not named, those that the list left out too', () => {
    const params = { targets: ['a', 'b', 'c'], targets_total: 9000 };
    expect(targetsText(job({ params }))).toBe('a, b and 8,998 more');
    expect(targetsText(job({ params: { targets: ['a', 'b'] } }))).toBe('a, b');
  });

  it('has the state of its last run', () => {
    const canceled = { code: 'canceled', message: 'canceled' };
    expect(lastState(job())).toBe(null);
    expect(lastState(job({ last_status: 'completed' }))).toBe('completed');
    expect(lastState(job({ last_status: 'completed', status: 'running' }))).toBe('running');
    expect(lastState(job({ last_status: 'completed', status: 'canceled' }))).toBe('canceled');
    expect(lastState(job({ last_status: 'failed', status: 'failed', error: canceled }))).toBe('canceled');
  });

  it('compares the last two completed runs', () => {
    const runs = [
      run('e', 'running'),
      run('d', 'completed'),
      run('c', 'failed'),
      run('b', 'completed'),
      run('a', 'completed'),
    ];
    expect(comparedRun(job({ runs }))).toBe('d');
    expect(comparedRun(job({ runs: runs.slice(0, 3) }))).toBe(null);
  });

  it('took a time once it ended', () => {
    expect(tookOf(run('a', 'completed'))).toBe(60_000);
    expect(tookOf(run('a', 'running'))).toBe(null);
  });

  it('is found by name, target and pool', () => {
    const named = job({ name: 'DMZ nightly', pool: 'far' });
    expect(['', 'dmz', '10.0.0', 'FAR', 'job-1', 'nowhere'].map((text) => jobMatches(named, text))).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
    ]);
  });
});
