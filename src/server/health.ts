import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { vulndbAge } from '../actions/catalogs/show-vulndb.ts';
import { PortolanError } from '../domain/errors.ts';
import { compileScope } from '../domain/targets/scope.ts';
import { parseTargets } from '../domain/targets/target.ts';
import { formatDuration } from '../domain/time/duration.ts';
import { attachedNetworks, type LocalNetwork } from '../net/attached-networks.ts';
import { permitsRaw } from '../net/packets/linux/raise-right.ts';
import { vulndbFolder } from '../scan-run/catalogs/vulndb-folder.ts';
import type { TenantContext } from './access/tenants.ts';
import { shortfallText } from './background/garbage.ts';
import type { RouteContext } from './context.ts';
import type { WaitingPool } from './shards/presence.ts';

export interface HealthCheck {
  name: string;
  status: 'degraded' | 'unhealthy';
  message: string;
}

interface ScanMethod {
  method: 'raw packets' | 'connections';
  reason: string;
}

export interface Health {
  status: 'healthy' | 'degraded' | 'unhealthy';
  /** Whole seconds. */
  uptime: number;
  version: string;
  workers: { active: number; idle: number; total: number };
  queue: { pending: number; running: number; failed: number };
  workspace: { scans: number; size_mb: number; free_space_mb: number };
  /** Scan method of this machine, and the reason. */
  scanning: ScanMethod & {
    /** At this machine and at least partly in scope. */
    networks: LocalNetwork[];
  };
  /** Whether scans may send packets now. */
  windows: { open: boolean; reason: string | null; until: string | null };
  /** Only failed checks. */
  checks: HealthCheck[];
}

const mebibyte = 1_048_576;
/** Below this much free disk, scans may soon fail. */
const lowSpaceBytes = 512 * mebibyte;
/** Below this many free inodes, scans may soon fail: each takes some twenty. */
const lowInodes = 1000;
/** Maximum number of scans with damaged results to list. */
const maxNamedScans = 10;
const queueAlmostFull = 0.9;

/** Why the service accepts no work, as a sentence; null if it does. */
export function notReady({ phase, shards }: Pick<RouteContext, 'phase' | 'shards'>): string | null {
  if (phase !== 'serving') return `The server is ${phase}.`;
  return shards?.reachable === false ? 'The store is unreachable.' : null;
}

/**
 * Checks every part of the service; counts of queue and workspace are those of the tenant. Never throws: a part that
 * fails is a failed check.
 */
export async function checkHealth(context: RouteContext, space: TenantContext): Promise<Health> {
  const checks: HealthCheck[] = [];
  const [queue, workspace] = await Promise.all([
    queueHealth(context, space, checks),
    workspaceHealth(context, space, checks),
  ]);
  const workers = context.workers.counts();
  if (!context.workers.alive) {
    checks.push({ name: 'workers', status: 'unhealthy', message: 'no worker accepts scans' });
  }
  if (context.workers.hanging > 0) {
    const message = `scan processes without a heartbeat: ${context.workers.hanging}; after a minute they are killed, and their scans resumed`;
    checks.push({ name: 'scan_processes', status: 'degraded', message });
  }
  const scanning = { ...(await readMethod()), networks: networksInScope(context) };
  checks.push(...writingFaults(context), ...rawRights(scanning), ...licenseHealth(context));
  checks.push(
    ...notificationHealth(context),
    ...vulndbHealth(context),
    ...resultHealth(context),
    ...alertHealth(context),
    ...pluginHealth(context),
    ...ruleHealth(context),
    ...presenceHealth(context),
    ...(await recordHealth(context, space)),
    ...comparisonHealth(context),
    ...damageHealth(context),
  );
  return {
    status: worst(checks),
    uptime: Math.floor((performance.now() - context.startedAt) / 1000),
    version: context.version.version,
    workers,
    queue,
    workspace,
    scanning,
    windows: windowsHealth(context),
    checks,
  };
}

/** A blackout window is healthy: no action is needed. */
function windowsHealth({ workers: { closure } }: RouteContext): Health['windows'] {
  const until = closure?.until ?? null;
  return {
    open: closure === null,
    reason: closure?.reason ?? null,
    until: until === null ? null : new Date(until).toISOString(),
  };
}

async function queueHealth(
  { config }: RouteContext,
  { store }: TenantContext,
  checks: HealthCheck[],
): Promise<Health['queue']> {
  try {
    const counts = await store.scanQueue.counts(new Date(Date.now() - config.queue.retention).toISOString());
    if (counts.pending >= config.queue.max_jobs * queueAlmostFull) {
      const message = `${counts.pending} scans waiting; queue.max_jobs is ${config.queue.max_jobs}`;
      checks.push({ name: 'queue', status: 'degraded', message });
    }
    return counts;
  } catch {
    checks.push({ name: 'queue', status: 'unhealthy', message: 'the queue store is unreachable' });
    return { pending: 0, running: 0, failed: 0 };
  }
}

async function workspaceHealth(
  { config, garbage }: RouteContext,
  { store, workspace }: TenantContext,
  checks: HealthCheck[],
): Promise<Health['workspace']> {
  try {
    await access(workspace.dir, constants.W_OK | constants.X_OK);
    const [{ scan_count, size_bytes }, free, inodes] = await Promise.all([
      store.scans.totals(),
      workspace.freeBytes(),
      workspace.inodes(),
    ]);
    const least = Math.max(lowSpaceBytes, config.workspace.retention.min_free_space ?? 0);
    if (free < least) {
      const message = `${Math.floor(free / mebibyte)} MiB free on the disk of the workspace, less than ${Math.floor(least / mebibyte)}`;
      checks.push({ name: 'disk_space', status: 'degraded', message });
    }
    if (inodes !== null && inodes.free < lowInodes) {
      const message = `${inodes.free} of ${inodes.total} inodes free on the disk of the workspace, less than ${lowInodes}`;
      checks.push({ name: 'disk_inodes', status: 'degraded', message });
    }
    const { shortfall } = garbage;
    if (shortfall && free < shortfall.min_free_space)
      checks.push({ name: 'retention', status: 'degraded', message: shortfallText({ ...shortfall, free }) });
    return {
      scans: scan_count,
      // Never 0 with scans: the size of one is known at its end.
      size_mb: Math.max(Math.ceil(size_bytes / mebibyte), Math.min(scan_count, 1)),
      free_space_mb: Math.floor(free / mebibyte),
    };
  } catch {
    checks.push({ name: 'workspace', status: 'unhealthy', message: 'the workspace is not writable' });
    return { scans: 0, size_mb: 0, free_space_mb: 0 };
  }
}

/** License problems that need action; none without enforcement. */
function licenseHealth({ license }: RouteContext): HealthCheck[] {
  const notice = license.enforced ? license.notice() : null;
  return notice ? [{ name: 'license', status: 'degraded', message: notice.text }] : [];
}

/** Only types of channels: names come from submitted scans. */
function notificationHealth({ notifier }: RouteContext): HealthCheck[] {
  const { failing } = notifier;
  if (failing.length === 0) return [];
  const message = `delivery of the last message failed: ${failing.join(', ')}`;
  return [{ name: 'notifications', status: 'degraded', message }];
}

/** Alert rules that cannot be evaluated need action. */
function alertHealth({ alerts: { fault } }: RouteContext): HealthCheck[] {
  return fault === null ? [] : [{ name: 'alerts', status: 'degraded', message: fault }];
}

function ruleHealth({ rules: { fault } }: RouteContext): HealthCheck[] {
  return fault === null ? [] : [{ name: 'evaluation_rules', status: 'degraded', message: fault }];
}

/** Graphs that name their modules fail. */
function pluginHealth({ plugins: { fault } }: RouteContext): HealthCheck[] {
  const message = `plugins are not loaded: ${fault}`;
  return fault === null ? [] : [{ name: 'plugins', status: 'degraded', message }];
}

/** Finished scans stay in the workspace meanwhile. */
function resultHealth({ results }: RouteContext): HealthCheck[] {
  const message = results?.fault ?? null;
  return message === null ? [] : [{ name: 'result_store', status: 'degraded', message }];
}

/** Scans that wait for an absent worker or server, or for no reason. */
function presenceHealth({ shards, config }: RouteContext): HealthCheck[] {
  if (!shards) return [];
  const { unservedPools, stuckPools, awayOwners } = shards.presence;
  const textOf = (waiting: readonly WaitingPool[]) =>
    waiting.map(({ pool, scans }) => `${pool} (${scans})`).join(', ');
  const pools = textOf(unservedPools);
  // They may wait for others of the pool to end.
  const isLimited = (pool: string) => (config.workers.pools?.[pool]?.max ?? null) !== null;
  const stuck = textOf(stuckPools.filter(({ pool }) => !isLimited(pool)));
  const owners = awayOwners.map(({ server_id, last_seen, scans }) => {
    const since = last_seen === null ? 'for a day' : `since ${new Date(last_seen).toISOString()}`;
    return `${server_id} (${scans}), not seen ${since}`;
  });
  const degraded = (name: string, message: string): HealthCheck => ({ name, status: 'degraded', message });
  return [
    ...(pools === '' ? [] : [degraded('pools', `scans waiting in pools without workers: ${pools}`)]),
    ...(stuck === ''
      ? []
      : [degraded('waiting', `scans waiting although a worker of their pool is idle: ${stuck}`)]),
    ...(owners.length === 0
      ? []
      : [degraded('owners', `scans waiting for their server: ${owners.join('; ')}`)]),
  ];
}

/** Only counts: the scans may belong to any tenant. The log names some. */
function comparisonHealth({ comparison: { fault } }: RouteContext): HealthCheck[] {
  return fault === null ? [] : [{ name: 'store', status: 'degraded', message: fault }];
}

/** Some work may still succeed: not all statements meet the damaged pages. */
function damageHealth({ damage: { fault } }: RouteContext): HealthCheck[] {
  return fault === null ? [] : [{ name: 'store_file', status: 'unhealthy', message: fault }];
}

async function recordHealth({ damaged }: RouteContext, { store }: TenantContext): Promise<HealthCheck[]> {
  const scans = await damaged.listedIn(store).catch(() => []);
  if (scans.length === 0) return [];
  const named = scans.slice(0, maxNamedScans).join(', ');
  const more = scans.length > maxNamedScans ? ` and ${scans.length - maxNamedScans} more` : '';
  const message = `results are missing or damaged: ${named}${more}; see portolan workspace check`;
  return [{ name: 'records', status: 'degraded', message }];
}

/** Only for imported or refreshed data; the builtin catalog does not age. */
function vulndbHealth({ config }: RouteContext): HealthCheck[] {
  const degraded = (message: string): HealthCheck[] => [{ name: 'vulndb', status: 'degraded', message }];
  const { auto_sync, ttl } = config.vulndb;
  try {
    const age = vulndbAge(vulndbFolder(config));
    if (age === null) return auto_sync ? degraded('vulnerability data was never fetched') : [];
    if (age <= ttl) return [];
    return degraded(
      `the vulnerability data is ${Math.floor(age / 3_600_000)} h old; vulndb.ttl is ${formatDuration(ttl)}`,
    );
  } catch (error) {
    return degraded(error instanceof PortolanError ? error.message : 'cannot read the vulnerability data');
  }
}

/** Problems of files outside the workspace. */
function writingFaults({ audit, logOutput }: RouteContext): HealthCheck[] {
  const faults = { audit: audit.fault ?? audit.gap, log: logOutput.fault };
  return Object.entries(faults).flatMap(([name, message]) =>
    message === null ? [] : [{ name, status: 'degraded' as const, message }],
  );
}

/** Privileges do not change while a process runs, so they are read once. */
let methodRead: Promise<ScanMethod> | null = null;

function readMethod(): Promise<ScanMethod> {
  methodRead ??= readFile('/proc/self/status', 'utf8')
    .catch(() => '')
    .then((status): ScanMethod => {
      return permitsRaw(status)
        ? { method: 'raw packets', reason: 'CAP_NET_RAW available' }
        : { method: 'connections', reason: 'CAP_NET_RAW missing' };
    });
  return methodRead;
}

function networksInScope({ config }: RouteContext): LocalNetwork[] {
  const scope = compileScope(config.scanner.scope);
  return attachedNetworks().filter(
    ({ network }) => scope.split(parseTargets([network]).addresses).inside.size > 0n,
  );
}

function rawRights({ method }: ScanMethod): HealthCheck[] {
  if (method === 'raw packets') return [];
  const message = 'no permission for raw sockets (CAP_NET_RAW); scans fall back to connections';
  return [{ name: 'raw_rights', status: 'degraded', message }];
}

function worst(checks: readonly HealthCheck[]): Health['status'] {
  if (checks.some(({ status }) => status === 'unhealthy')) return 'unhealthy';
  return checks.length > 0 ? 'degraded' : 'healthy';
}
