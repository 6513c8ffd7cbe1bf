import { Dispatcher } from '../../queue/dispatcher.ts';
import { PgBossQueue } from '../../queue/pg-boss.ts';
import { type OwnShard, ShardLine } from '../../queue/shard-line.ts';
import { WakeUps } from '../../queue/wake-ups.ts';
import type { Store } from '../../store/open.ts';
import { logReason } from '../../worker/log-reason.ts';
import type { ShardHome } from '../../worker/shard-home.ts';
import { serverId } from '../../workspace/server-id.ts';
import type { ServerLog } from '../log.ts';
import { RegularLooks } from '../regular-looks.ts';
import { HomeServers } from './home-servers.ts';
import { LocalHome } from './local-home.ts';
import { ScansElsewhere } from './scans-elsewhere.ts';
import type { ShardIntake } from './shard-intake.ts';
import { StoreWatch } from './store-watch.ts';

/** The server says this often that it is there, milliseconds. */
const signMs = 5000;
/** Servers and workers that have not been seen for so long are forgotten, milliseconds. */
const forgottenMs = 24 * 3_600_000;
/** Workers that gave a sign of life since are counted, milliseconds. */
const presentMs = 15_000;

/** What a server has that shares its database with others: it divides its scans among workers. */
export interface Distribution {
  readonly home: string;
  readonly queue: PgBossQueue;
  readonly line: ShardLine;
  /** Scans whose shards are at work: where the rows that come over the network go. */
  readonly intakes: Map<string, ShardIntake>;
  readonly elsewhere: ScansElsewhere;
  readonly homes: HomeServers;
  /** Workers of all hosts, those of all servers included. */
  readonly workers: { active: number; total: number };
  /** Whether the database answers. */
  readonly reachable: boolean;
  /** The way to this server for its own workers; null for a scan that lies elsewhere. */
  ownHome(homeId: string, shard: OwnShard): ShardHome | null;
  /** Tells workers where this server is, from now on. */
  announce(url: string, version: string): Promise<void>;
  close(): Promise<void>;
}

export interface DistributionInput {
  store: Store;
  /** Of the database. */
  url: string;
  workspaceDir: string;
  leaseMs: number;
  /** There is a result store. */
  storesResults: boolean;
  log: ServerLog;
}

/** @throws PortolanError `unavailable`, `configuration` */
export async function openDistribution(input: DistributionInput): Promise<Distribution> {
  const { store, url, workspaceDir, leaseMs, log } = input;
  const home = await serverId(workspaceDir);
  const dispatcher = await Dispatcher.start(url, (err) =>
    log.warn({ err }, 'the queue could not be looked after; it is tried again'),
  );
  const queue = await PgBossQueue.open(store, dispatcher, { leaseMs, home });
  const wakeUps = new WakeUps(url);
  const line = new ShardLine(store, dispatcher, { leaseMs, wakeUps });
  const elsewhere = new ScansElsewhere(store, line, home);
  const intakes = new Map<string, ShardIntake>();
  const workers = { active: 0, total: 0 };
  let signs: RegularLooks | null = null;
  const count = async () => {
    const present = await store.hosts.workers((await line.now()) - presentMs);
    const sum = (of: 'active' | 'capacity') => present.reduce((total, worker) => total + worker[of], 0);
    workers.active = sum('active');
    workers.total = Math.max(sum('capacity'), workers.active);
  };
  const watch = new StoreWatch(count, log);
  return {
    home,
    queue,
    line,
    intakes,
    elsewhere,
    homes: new HomeServers(store, elsewhere, input.storesResults),
    workers,
    get reachable() {
      return watch.reachable;
    },
    ownHome: (homeId, shard) => (homeId === home ? new LocalHome(intakes, shard) : null),
    async announce(ownUrl, version) {
      const sign = async () => {
        const now = await line.now();
        await store.hosts.seeServer({ server_id: home, url: ownUrl, version, last_seen: now });
        await store.hosts.forgetBefore(now - forgottenMs);
      };
      await sign();
      signs = new RegularLooks(toldOnce(sign, log), { firstMs: signMs, betweenMs: signMs });
      signs.start();
      watch.start();
    },
    async close() {
      watch.close();
      await signs?.close();
      await wakeUps.close();
      await queue.close();
    },
  };
}

/** Of failures that follow each other the first is told. */
function toldOnce(sign: () => Promise<void>, log: ServerLog): () => Promise<void> {
  let failing = false;
  return async () => {
    try {
      await sign();
      failing = false;
    } catch (err) {
      if (!failing) log.warn(logReason(err), 'this server cannot tell that it is there; it is tried again');
      failing = true;
    }
  };
}
