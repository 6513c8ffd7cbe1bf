/**
 * One of the processes of `bench/queue.ts` that work on one database at the same time: shards that are laid out, claimed and finished,
 * or as many jobs of bare pg-boss that are sent, fetched and completed.
 */
import { PgBoss } from 'pg-boss';
import { Dispatcher } from '../src/queue/dispatcher.ts';
import { ShardQueue } from '../src/queue/shard-queue.ts';
import { WakeUps } from '../src/queue/wake-ups.ts';
import { openStore, type Store } from '../src/store/open.ts';

/** What a process does. */
export type QueueWork = 'shards' | 'bare pg-boss';

/** Messages to a process. */
export interface QueueOrder {
  work: QueueWork;
  /** Of scans in the store: a shard or job for each. */
  scanIds: string[];
  atOnce: number;
}

const leaseMs = 30_000;
const plan = { addresses: ['10.0.0.0/24'], hostnames: {} };

/** @returns the number that it has claimed and finished */
export async function runShards(
  line: ShardQueue,
  { scanIds, atOnce }: Omit<QueueOrder, 'work'>,
): Promise<number> {
  for (const scan_id of scanIds) await line.layOut({ scan_id, pool: 'default', priority: 5 }, plan, 1);
  let finished = 0;
  const work = async (worker: string) => {
    const claim = () => line.claim(worker, ['default']);
    for (let shard = await claim(); shard; shard = await claim()) {
      if (!(await line.finish(shard, '{}'))) throw new Error('the claim was lost');
      finished += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, number) => work(`w${number}`)));
  return finished;
}

/** @returns the number that it has fetched and completed */
export async function runBare(boss: PgBoss, { scanIds, atOnce }: Omit<QueueOrder, 'work'>): Promise<number> {
  for (const scan_id of scanIds) await boss.send('bare', { scan_id });
  let completed = 0;
  const work = async () => {
    for (let [job] = await boss.fetch('bare'); job; [job] = await boss.fetch('bare')) {
      await boss.complete('bare', job.id);
      completed += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return completed;
}

export interface QueueEngines {
  line: ShardQueue;
  boss: PgBoss;
  close(): Promise<void>;
}

export async function openEngines(store: Store, url: string): Promise<QueueEngines> {
  const failed = (error: unknown) => console.error(String(error));
  const boss = new PgBoss({ connectionString: url, schema: 'portolan_queue', supervise: false });
  boss.on('error', failed);
  await boss.start();
  await boss.createQueue('bare');
  const dispatcher = await Dispatcher.start(url, failed);
  const wakeUps = new WakeUps(url);
  const line = new ShardQueue(store, dispatcher, { leaseMs, maxAttempts: 3, wakeUps });
  return {
    line,
    boss,
    async close() {
      await wakeUps.close();
      await dispatcher.close();
      await boss.stop({ graceful: false });
    },
  };
}

async function serve(url: string): Promise<void> {
  const store = await openStore(url);
  const engines = await openEngines(store, url);
  process.on('message', (order: QueueOrder) => {
    const run = order.work === 'shards' ? runShards(engines.line, order) : runBare(engines.boss, order);
    void run.then((count) => process.send?.(count));
  });
  process.send?.('ready');
  await new Promise((resolve) => process.once('disconnect', resolve));
  await engines.close();
  await store.close();
}

const url = process.argv[2];
if (import.meta.main && url !== undefined) await serve(url);
