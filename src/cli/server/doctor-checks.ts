import { constants } from 'node:fs';
import { access, readFile, stat, statfs } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { leastConcurrency } from '../../net/adaptive/concurrency.ts';
import { Egress } from '../../net/egress.ts';
import { openFilesLimit } from '../../net/gate/open-files-limit.ts';
import { choosePingMethod } from '../../net/icmp/ping.ts';
import { permitsRaw } from '../../net/packets/linux/raise-right.ts';
import { NameResolver } from '../../net/resolve.ts';
import { findLockHolder } from '../../workspace/workspace-lock.ts';
import { objectOf, text } from '../session/response-shape.ts';
import { clientOf } from '../session/server-choice.ts';
import type { ServerFlags } from '../session/server-flags.ts';
import { amountText, bytesText } from '../terminal/draw/amounts.ts';

/** Result of one check, and how to fix a problem. */
export interface CheckResult {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  message: string;
  remedy: string | null;
}

type Verdict = Omit<CheckResult, 'name'>;

const minNodeMajor = 20;
/** File descriptors of the program in addition to scan connections. */
const ownHandles = 128;
const minHandles = 256;
const warnSpace = 1024 ** 3;
const minSpace = 64 * 1024 ** 2;
const resolverMs = 3000;
/** A name that never exists (RFC 6761): any response shows that the resolver works. */
const probeName = 'portolan.invalid';

/** Checks of the machine alone. */
export function machineChecks(): Promise<CheckResult[]> {
  return all({
    node: async () => nodeVersion(),
    raw_sockets: rawSockets,
    ping: async () => pingRights(),
    interfaces: async () => interfaces(),
    routes,
    clock,
    plugin_sandbox: pluginSandbox,
  });
}

/** Checks that depend on the configuration. */
export function configuredChecks(config: Config, flags: ServerFlags): Promise<CheckResult[]> {
  return all({
    open_files: async () => openFiles(config),
    workspace: () => workspaceState(config),
    disk: () => diskSpace(config),
    server: () => server(config, flags),
    resolver: () => resolver(config),
  });
}

function all(checks: Record<string, () => Promise<Verdict>>): Promise<CheckResult[]> {
  return Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const verdict = await check().catch((error: Error) => warn(`check failed: ${error.message}`));
      return { name, ...verdict };
    }),
  );
}

function ok(message: string): Verdict {
  return { status: 'ok', message, remedy: null };
}

function warn(message: string, remedy: string | null = null): Verdict {
  return { status: 'warn', message, remedy };
}

function fail(message: string, remedy: string): Verdict {
  return { status: 'fail', message, remedy };
}

function nodeVersion(): Verdict {
  const { node } = process.versions;
  const message = `Node.js ${node}`;
  if (Number(node.split('.')[0]) >= minNodeMajor) return ok(message);
  return fail(message, `install Node.js ${minNodeMajor} or newer`);
}

async function rawSockets(): Promise<Verdict> {
  const status = await readFile('/proc/self/status', 'utf8');
  if (permitsRaw(status)) return ok('CAP_NET_RAW available');
  return warn(
    'CAP_NET_RAW is missing: ports by connect, discovery by TCP',
    'sudo portolan ...; in a service AmbientCapabilities=CAP_NET_RAW',
  );
}

function pingRights(): Verdict {
  const { method, reason } = choosePingMethod(4, new Egress());
  if (method !== 'none') return ok(reason);
  return warn(`no ICMP socket: ${reason}`, 'sudo sysctl -w net.ipv4.ping_group_range="0 2147483647"');
}

function interfaces(): Verdict {
  const outside = Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
    (addresses ?? [])
      .filter(({ internal }) => !internal)
      .map(({ cidr, address }) => `${name} ${cidr ?? address}`),
  );
  if (outside.length > 0) return ok(outside.join(', '));
  return warn('only loopback is up: other machines cannot be scanned', 'bring up a network interface');
}

async function routes(): Promise<Verdict> {
  const v4 = (await readFile('/proc/net/route', 'utf8')).split('\n').slice(1);
  const v6 = await readFile('/proc/net/ipv6_route', 'utf8').catch(() => '');
  // Both files name destination and interface; the default route has the destination 0 (and the prefix 0).
  const default4 = v4.map((line) => line.split('\t')).find(([, destination]) => destination === '00000000');
  const default6 = v6.split('\n').find((line) => /^0{32} 00 /.test(line) && !/\slo$/.test(line));
  const found = [
    ...(default4 ? [`IPv4 by ${default4[0]}`] : []),
    ...(default6 ? [`IPv6 by ${default6.trim().split(/\s+/).at(-1)}`] : []),
  ];
  if (found.length > 0) return ok(`default route: ${found.join(', ')}`);
  return warn(
    'no default route: only directly connected networks can be scanned',
    'sudo ip route add default via GATEWAY',
  );
}

/** The clock is wrong if it is before the installation of this program; also reports whether it is synchronized. */
async function clock(): Promise<Verdict> {
  const now = Date.now();
  const installed = (await stat(new URL('../../../package.json', import.meta.url))).mtimeMs;
  const time = new Date(now).toISOString();
  if (now < installed - 86_400_000)
    return fail(`${time} is before this program was installed`, 'set the clock');
  const synchronized = await exists('/run/systemd/timesync/synchronized');
  return ok(synchronized ? `${time}, synchronized by NTP` : time);
}

async function pluginSandbox(): Promise<Verdict> {
  const { testSandbox } = await import('../../plugins/sandbox/self-test.ts');
  const { failure, missing, attempts } = await testSandbox();
  if (failure === null) return ok(`holds against ${attempts} attempts to break out`);
  return warn(
    `${missing ? 'missing: ' : ''}${failure}; plugins that need it cannot run`,
    'use Linux 5.19 or newer with Landlock and seccomp (lsm=landlock at boot), and the Node.js of this program',
  );
}

function openFiles({ scanner, server }: Config): Verdict {
  const limit = openFilesLimit();
  const concurrency = scanner.concurrency ?? leastConcurrency;
  const wanted = ownHandles + concurrency;
  const message = `${amountText(limit)} open files and connections`;
  const remedy = 'raise the limit: LimitNOFILE= of the service, or ulimit -n';
  if (limit < minHandles) return fail(message, remedy);
  if (limit >= wanted) return ok(message);
  return warn(
    `${message}; scanner.concurrency ${concurrency} (${server.workers} scans) needs ${wanted}`,
    remedy,
  );
}

async function workspaceState({ workspace }: Config): Promise<Verdict> {
  const { dir, enabled } = workspace;
  if (!enabled) return ok('disabled (workspace.enabled): scans use a temporary directory');
  if (!(await exists(dir))) return missingWorkspace(dir);
  const elsewhere = 'choose another directory with workspace.dir';
  const entry = await stat(dir);
  if (!entry.isDirectory()) return fail(`${dir} is not a directory`, elsewhere);
  const { mode, uid } = entry;
  if (process.geteuid && uid !== process.geteuid())
    return fail(`${dir} belongs to another user (uid ${uid})`, elsewhere);
  if (!(await isWritable(dir))) return fail(`${dir} is not writable`, elsewhere);
  if (!(await exists(join(dir, 'workspace.version'))))
    return warn(`${dir} is not a workspace yet; the first scan creates it`);
  if ((mode & 0o077) !== 0) return warn(`${dir} is accessible to other users`, `chmod 700 ${dir}`);
  return openedWorkspace(dir);
}

/** Opening finds version mismatches and damage. */
async function openedWorkspace(dir: string): Promise<Verdict> {
  const { openWorkspace } = await import('../../workspace/workspace.ts');
  try {
    await openWorkspace(dir);
    return ok(dir);
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    return fail(
      error.message,
      'choose another directory with workspace.dir, or see: portolan workspace check',
    );
  }
}

async function missingWorkspace(dir: string): Promise<Verdict> {
  const parent = await nearestFolder(dir);
  if (await isWritable(parent)) return ok(`${dir} will be created on demand`);
  return fail(
    `${dir} cannot be created: ${parent} is not writable`,
    'choose another directory with workspace.dir',
  );
}

async function diskSpace({ workspace }: Config): Promise<Verdict> {
  const { bavail, bsize } = await statfs(await nearestFolder(workspace.dir));
  const free = bavail * bsize;
  const wanted = Math.max(warnSpace, workspace.retention.min_free_space ?? 0);
  const message = `${bytesText(free)} free for the workspace`;
  const remedy = 'free space: portolan workspace gc --older-than 30d';
  if (free < minSpace) return fail(message, remedy);
  return free < wanted ? warn(`${message}, less than ${bytesText(wanted)}`, remedy) : ok(message);
}

async function server({ workspace }: Config, flags: ServerFlags): Promise<Verdict> {
  const holder = workspace.enabled ? await findLockHolder(workspace.dir) : null;
  if (holder === null) return ok('no server runs on this workspace');
  const place = `pid ${holder.pid}, ${holder.url}`;
  try {
    const { status } = await clientOf(holder.url, flags).health(
      objectOf<{ status: string }>({ status: text }),
    );
    if (status === 'unhealthy') return fail(`${place}: ${status}`, 'see: portolan server status');
    return status === 'healthy'
      ? ok(`${place}: healthy`)
      : warn(`${place}: ${status}`, 'see: portolan server status');
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    if (error.code === 'unauthorized')
      return warn(`${place}: reading its health needs a token`, 'set SERVICE_API_TOKEN');
    return fail(`${place}: ${error.message}`, 'see its log: portolan server logs');
  }
}

async function resolver({ scanner }: Config): Promise<Verdict> {
  const { servers } = scanner.dns;
  const place = servers.length > 0 ? servers.join(', ') : 'system resolver';
  const names = new NameResolver({ servers, timeoutMs: Math.min(scanner.dns.timeout, resolverMs) });
  const answer = await names.resolve(probeName, new AbortController().signal);
  // Any response counts, also that the name does not exist.
  const silent = 'error' in answer && /does not respond|no response|refuses|failed/.test(answer.error);
  if (!silent) return ok(`${place} responds`);
  return warn(
    `${place}: ${answer.error}; host names cannot be scanned`,
    'check /etc/resolv.conf or set scanner.dns.servers',
  );
}

async function nearestFolder(path: string): Promise<string> {
  return (await exists(path)) || dirname(path) === path ? path : nearestFolder(dirname(path));
}

function exists(path: string): Promise<boolean> {
  return may(path, constants.F_OK);
}

function isWritable(path: string): Promise<boolean> {
  return may(path, constants.W_OK | constants.X_OK);
}

async function may(path: string, mode: number): Promise<boolean> {
  return await access(path, mode).then(
    () => true,
    () => false,
  );
}
