import { describe, expect, it } from 'vitest';
import type { Job } from '../../domain/job.ts';
import { columnsOf } from '../terminal/draw/printable.ts';
import { scheduleRows, scheduleTable } from './schedule-table.ts';

const job = (changes: Partial<Job> = {}): Job => ({
  job_id: 'job-0a1b2c3d',
  type: 'scan',
  params: { targets: ['127.0.0.1'] },
  schedule: '0 2 * * *',
  pool: 'default',
  priority: 5,
  name: 'nightly',
  status: 'pending',
  last_status: 'completed',
  progress: 0,
  scan_id: null,
  run_count: 1,
  last_run_at: null,
  next_run_at: '2026-12-01T02:00:00.000Z',
  next_runs: [],
  runs: [],
  created_at: '2026-11-22T14:00:00.000Z',
  started_at: null,
  completed_at: null,
  error: null,
  created_by: null,
  ...changes,
});
const many = Array.from({ length: 100 }, (_, index) => `127.0.0.${index}`);
const now = Date.parse('2026-11-30T23:00:00Z');

const draw = (jobs: readonly Job[], columns: number | null = null) =>
  scheduleTable(
    jobs,
    { columns: columns ?? 80, terminal: columns !== null, color: false, ascii: false },
    now,
  );

/** The line of one job, below the titles. */
const lineOf = (changes: Partial<Job>, columns: number | null = null) =>
  draw([job(changes)], columns).split('\n')[1] ?? '';

describe('the table of what recurs', () => {
  it('shows a job in one line', () => {
    expect(draw([job()])).toBe(
      'ID            NAME     SCHEDULE   NEXT    LAST       POOL     TARGETS\n' +
        'job-0a1b2c3d  nightly  0 2 * * *  in 3 h  completed  default  127.0.0.1\n',
    );
  });

  it.each([60, 80, 100, 140])('fits into %i columns', (columns) => {
    const jobs = [
      job({ params: { targets: many, targets_total: 5000 } }),
      job({ params: { targets: many }, name: null, last_status: null }),
    ];
    for (const line of draw(jobs, columns).split('\n')) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
  });

  it('names as many targets as fit and the number of the others, in a pipe all', () => {
    const targets = ['127.0.0.0/24', '127.0.1.0/24', '127.0.2.0/24'];
    expect(lineOf({ params: { targets } })).toMatch(
      / {2}127\.0\.0\.0\/24 127\.0\.1\.0\/24 127\.0\.2\.0\/24$/,
    );
    expect(lineOf({ params: { targets } }, 80)).toMatch(/ {2}127\.0\.0\.0\/24 \+2$/);
    expect(lineOf({ params: { targets: many, targets_total: 5000 } }, 60)).toMatch(/ \+4,999$/);
    expect(lineOf({ params: { targets: ['a.very.long.name.of.a.host.example.net'] } }, 80)).toMatch(
      / {2}a\.very\S*…\S*example\.net$/,
    );
    expect(lineOf({ params: {} })).toMatch(/ –$/);
  });

  it('leaves the pool out of a narrow terminal where all jobs are in the one that is always there', () => {
    expect(lineOf({}, 80)).not.toContain('default');
    expect(draw([job(), job({ pool: 'dmz' })], 80)).toMatch(/POOL.*\n.*default.*\n.*dmz/);
  });

  it('says in place of the next run how a job has ended', () => {
    const ended = lineOf({ status: 'canceled', next_run_at: null }, 120);
    expect(ended).toMatch(/0 2 \* \* \* {2}canceled +completed/);
  });

  it('lets no control byte out', () => {
    const hostile = 'a\u001b[2J\u202e\r\n';
    const changes = {
      name: hostile,
      schedule: hostile,
      pool: hostile,
      params: { targets: [hostile, hostile] },
    };
    for (const text of [draw([job(changes)], 140), scheduleRows([job(changes)])]) {
      expect(text.replace(/\r?\n/g, '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(text.trimEnd().split('\n')).toHaveLength(2);
    }
  });
});

describe('the same as CSV', () => {
  it('cuts nothing', () => {
    expect(scheduleRows([job({ name: 'a, b', params: { targets: many, targets_total: 5000 } })])).toBe(
      'job_id,status,name,schedule,next_run_at,last_status,pool,targets,targets_total\r\n' +
        'job-0a1b2c3d,pending,"a, b",0 2 * * *,2026-12-01T02:00:00.000Z,completed,default,' +
        `${many.join(' ')},5000\r\n`,
    );
  });

  it('leaves what is not known empty', () => {
    const unknown = { name: null, next_run_at: null, last_status: null, params: {} };
    expect(scheduleRows([job(unknown)]).split('\r\n')[1]).toBe(
      'job-0a1b2c3d,pending,,0 2 * * *,,,default,,0',
    );
  });
});
