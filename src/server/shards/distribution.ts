import type { PoolTags } from '../../domain/pool-tags.ts';
import { Dispatcher } from '../../queue/dispatcher.ts';
import { ExclusiveWork } from '../../queue/exclusive-work.ts';
import { NotificationJobs } from '../../queue/notification-jobs.ts';
import type { JobQueue } from '../../queue/queue.ts';
import { ScanQueue } from '../../queue/scan-queue.ts';
import { ShardQueue } from '../../queue/shard-queue.ts';
import { WakeUps } from '../../queue/wake-ups.ts';
import type { Store } from '../../store/open.ts';
import { logReason } from '../../worker/log-reason.ts';
import type { ShardWorker } from '../../worker/shard-worker.ts';
import { serverId } from '../../workspace/server-id.ts';
import { PeriodicTasks } from '../background/periodic-tasks.ts';
import type { ServerLog } from '../logging/log.ts';
import { Presence } from './presence.ts';
import { RemoteScans } from './remote-scans.ts';
import { StoreWatch } from './store-watch.ts';

/** Heartbeat interval of the server, milliseconds. */
const signMs = 5000;

/** Shared state of servers on one database: scans are divided among workers. */
export interface Distribution {
  readonly home: string;
  readonly queue: JobQueue;
  readonly line: ShardQueue;
  /** Garbage collection of these servers. */
  readonly garbage: ExclusiveWork;
  /** Notifications of these servers. */
  readonly notifications: NotificationJobs;
  readonly elsewhere: RemoteScans;
  /** Which workers and servers are present. */
  readonly presence: Presence;
  /** The worker inside this server, while it runs; it has places for undivided scans. */
  localWorker: Pick<ShardWorker, 'takePlace'> | null;
  /** Whether the database responds. */
  readonly reachable: boolean;
  /** Announces this server to other servers and workers. */
  announce(url: string, version: string): Promise<void>;
  close(): Promise<void>;
}

export interface DistributionInput {
  store: Store;
  /** Of the database. */
  url: string;
  workspaceDir: string;
  leaseMs: number;
  /** Of a shard. */
  maxAttempts: number;
  poolTags: PoolTags;
  /** By which others complete the scans of this server, as JSON; a reload may change them. */
  settings: () => string;
  /** On the disk of the workspace; null to report none. */
  freeBytes: () => Promise<number | null>;
  log: ServerLog;
}

/** @throws PortolanError `unavailable`, `configuration` */
export async function openDistribution(input: DistributionInput): Promise<Distribution> {
  const { store, url, workspaceDir, leaseMs, poolTags, settings, log } = input;
  const home = await serverId(workspaceDir);
  const failed = (err: unknown) => log.warn({ err }, 'queue maintenance failed, retrying');
  const dispatcher = await Dispatcher.start(url, failed, true);
  const queue = new ScanQueue(store, { leaseMs, home });
  const wakeUps = new WakeUps(url);
  const line = new ShardQueue(store, dispatcher, { leaseMs, maxAttempts: input.maxAttempts, wakeUps });
  const own = { id: home, poolTags, settings, leaseMs };
  const presence = new Presence(store, () => line.now(), own, log);
  const elsewhere = new RemoteScans(store, line, home, presence);
  const freeBytes = () => input.freeBytes().catch(() => null);
  let signs: PeriodicTasks | null = null;
  const watch = new StoreWatch(() => presence.lookForWorkers(), log);
  return {
    home,
    queue,
    line,
    garbage: new ExclusiveWork(store, dispatcher, 'garbage'),
    notifications: new NotificationJobs(store, dispatcher),
    elsewhere,
    presence,
    localWorker: null,
    get reachable() {
      return watch.reachable;
    },
    async announce(ownUrl, version) {
      await presence.sign(ownUrl, version, await freeBytes());
      const sign = async () => {
        await presence.sign(ownUrl, version, await freeBytes());
        await presence.lookForScans();
        await line.buryDead();
      };
      signs = new PeriodicTasks(toldOnce(sign, log), { firstMs: signMs, betweenMs: signMs });
      signs.start();
      watch.start();
    },
    async close() {
      watch.close();
      await signs?.close();
      await wakeUps.close();
      await dispatcher.close();
    },
  };
}

/** Reports only the first of consecutive failures. */
function toldOnce(sign: () => Promise<void>, log: ServerLog): () => Promise<void> {
  let failing = false;
  return async () => {
    try {
      await sign();
      failing = false;
    } catch (err) {
      if (!failing) log.warn(logReason(err), 'heartbeat failed, retrying');
      failing = true;
    }
  };
}
