import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStore, type Store } from '../../store/open.ts';
import { listJobs } from './list-jobs.ts';

let dir: string;
let store: Store;
/** The newest first. */
const ids: string[] = [];
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-jobs-'));
  store = await openStore(join(dir, 'service.db'));
  await store.transaction(async (tx) => {
    for (let n = 0; n < 450; n++) {
      const job_id = `job-${String(n).padStart(6, '0')}`;
      const created_at = new Date(Date.UTC(2026, 9, 6, 0, n)).toISOString();
      await tx.clientJobs.insert({
        job_id,
        created_at,
        type: 'scan',
        name: null,
        params: { targets: ['127.0.0.1'] },
        schedule: '0 2 * * *',
        zone: 'UTC',
        pool: 'default',
        priority: 5,
        next_run_at: created_at,
        created_by: null,
      });
      ids.unshift(job_id);
    }
  });
});
afterAll(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

it('a long page of jobs is read in parts, between which the event loop turns, and is one page', async () => {
  const view = { store, config: { queue: {} as never } };
  let turns = 0;
  let listing = true;
  const count = () => {
    turns += 1;
    if (listing) setImmediate(count);
  };
  setImmediate(count);
  const list = await listJobs(view, { limit: 430, offset: 10 });
  listing = false;
  expect(list.jobs.map(({ job_id }) => job_id)).toEqual(ids.slice(10, 440));
  expect(list).toMatchObject({ total: 450, limit: 430, offset: 10, next_cursor: expect.any(String) });
  expect(turns).toBeGreaterThanOrEqual(4);
  const rest = await listJobs(view, { limit: 1000, cursor: list.next_cursor as string });
  expect(rest.jobs.map(({ job_id }) => job_id)).toEqual(ids.slice(440));
  expect(rest.next_cursor).toBeNull();
});
