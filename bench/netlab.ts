/**
 * A network of its own for measuring scanners: thousands of addresses whose ports are known, in two network namespaces
 * without a way out. One links the scanner to a gateway that is all the other hosts.
 *
 * | range | path | what is there |
 * |---|---|---|
 * | 10.88.1.1 | own link | 1000 of 65,535 ports open, the others refuse |
 * | 10.88.1.2 | own link | 1000 of 65,535 ports open, everything else is silent |
 * | 10.88.1.3 | own link | every port open |
 * | 10.88.4.0/22 | own link | 330 hosts of all kinds |
 * | 10.88.128.1 to 10.88.129.0 | behind the gateway | 256 hosts with 52 of the ports 1 to 1000 open, the others refuse |
 * | 10.88.130.1 to 10.88.131.0 | behind the gateway | the same, and 5 % of the packets are lost each way |
 * | 10.88.144.0/22 | behind the gateway | 315 hosts of all kinds |
 * | 10.88.160.0/20 | behind the gateway | 1500 hosts with port 80 or 443, 600 of them silent otherwise |
 * | 10.89.0.0/16 | own second link | 2000 hosts |
 * | 10.96.0.0/12 | third link | swallows everything at the interface |
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parsePorts } from '../src/domain/port.ts';
import { portCatalog } from '../src/knowledge/ports.ts';

/** What a host does with packets that meet no open port. */
type Kind =
  /** Answers ping, refuses. */
  | 'plain'
  /** Answers nothing. */
  | 'guarded'
  /** No open port, no ping; refuses. */
  | 'refusing'
  /** Answers ping, and refuses by ICMP "administratively prohibited". */
  | 'prohibiting'
  /** Answers ping only. */
  | 'echo'
  /** Answers ARP only. */
  | 'arp';

export interface LabHost {
  ip: string;
  kind: Kind;
  open: number[];
}

/** Counters of the scanner's side since the lab is up. */
export interface Counters {
  /** Packets that left the scanner's interfaces. */
  sent: number;
  received: number;
  /** RST segments that the scanner's own kernel sent: its word to answers it did not ask for. */
  resets: number;
}

export const everyPort = '1-65535';
export const gateway = { ip: '10.88.0.2', mac: '02:00:00:88:00:02' };
export const sink = { ip: '10.96.0.0', mac: '02:00:00:88:00:06', source: '10.95.0.1', interface: 'sink0' };
export const own = {
  source: '10.88.0.1',
  interface: 'lab0',
  wideInterface: 'wide0',
  wideSource: '10.89.0.1',
};
export const ranges = {
  refusing: '10.88.1.1',
  silent: '10.88.1.2',
  allOpen: '10.88.1.3',
  near: '10.88.4.0/22',
  field: '10.88.128.1-10.88.129.0',
  lossy: '10.88.130.1-10.88.131.0',
  far: '10.88.144.0/22',
  web: '10.88.160.0/20',
  wide: '10.89.0.0/16',
};
const lossyNetwork = '10.88.130.0/23';
/** The hundred ports that the hosts of `near` and `far` have theirs from. */
export const hundredPorts = parsePorts('top-100', portCatalog).tcp;
const commonPorts = parsePorts('top-20', portCatalog).tcp;

const kinds: [Kind, number][] = [
  ['plain', 190],
  ['guarded', 60],
  ['refusing', 20],
  ['prohibiting', 20],
  ['echo', 25],
  ['arp', 15],
];

/** The hosts of the lab by range; the same in every run. */
function drawHosts(): Record<keyof typeof ranges, LabHost[]> {
  const draw = new Draw(0x7077);
  return {
    refusing: [{ ip: ranges.refusing, kind: 'plain', open: draw.some(1000, upTo(65_535)) }],
    silent: [{ ip: ranges.silent, kind: 'guarded', open: draw.some(1000, upTo(65_535)) }],
    allOpen: [{ ip: ranges.allOpen, kind: 'plain', open: upTo(65_535) }],
    near: mixedHosts(draw, '10.88.4.1', kinds),
    field: addresses('10.88.128.1', 256).map((ip) => fieldHost(draw, ip)),
    lossy: addresses('10.88.130.1', 256).map((ip) => fieldHost(draw, ip)),
    far: mixedHosts(
      draw,
      '10.88.144.1',
      kinds.filter(([kind]) => kind !== 'arp'),
    ),
    web: draw.some(1500, addresses('10.88.160.1', 4094)).map((ip, i) => {
      return { ip, kind: i < 900 ? 'plain' : 'guarded', open: [i % 3 === 0 ? 443 : 80] };
    }),
    wide: draw.some(2000, addresses('10.89.0.10', 65_525)).map((ip, i) => {
      const kind = i < 1400 ? 'plain' : i < 1700 ? 'guarded' : i < 1850 ? 'echo' : 'arp';
      return { ip, kind, open: i < 1700 ? [22] : [] };
    }),
  };
}

function fieldHost(draw: Draw, ip: string): LabHost {
  return { ip, kind: 'plain', open: draw.some(52, upTo(1000)) };
}

function mixedHosts(draw: Draw, first: string, counts: [Kind, number][]): LabHost[] {
  const free = draw.some(1022, addresses(first, 1022));
  const mostOpen: Partial<Record<Kind, number>> = { plain: 12, guarded: 5, prohibiting: 3 };
  return counts.flatMap(([kind, count]) =>
    free.splice(0, count).map((ip) => {
      const most = mostOpen[kind];
      if (most === undefined) return { ip, kind, open: [] };
      const open = new Set(draw.some(draw.below(Math.ceil(most / 2)) + 1, commonPorts));
      for (const port of draw.some(draw.below(Math.ceil(most / 2)) + 1, hundredPorts)) open.add(port);
      return { ip, kind, open: [...open].sort((a, b) => a - b) };
    }),
  );
}

/** Numbers by chance that are the same for the same seed: xorshift32 (Marsaglia 2003). */
class Draw {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(limit: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % limit;
  }

  /** `count` different ones in random order. */
  some<T>(count: number, from: readonly T[]): T[] {
    const left = [...from];
    return Array.from({ length: Math.min(count, left.length) }, () => {
      const index = this.below(left.length);
      const taken = left[index] as T;
      left[index] = left.at(-1) as T;
      left.pop();
      return taken;
    });
  }
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, i) => i + 1);
}

function addresses(first: string, count: number): string[] {
  const start = first.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
  return Array.from({ length: count }, (_, i) => {
    const n = start + i;
    return `${n >>> 24}.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`;
  });
}

/** A set of nftables with its elements: an empty list of elements is a syntax error there. */
function set(name: string, type: string, elements: string[]): string {
  const list = elements.length === 0 ? '' : `elements = { ${elements.join(', ')} }`;
  return `set ${name} {\ntype ${type}\n${list}\n}\n`;
}

/**
 * The hosts as rules. Nothing here looks at connections, so the kernel tracks none. An open port is handed to the one
 * listener (tproxy) before any silence; the addresses are local, so the kernel itself refuses, echoes and answers ARP.
 */
function filterRules(hosts: LabHost[], listenerPort: number): string {
  const ofKind = (name: Kind) =>
    set(
      `${name}_hosts`,
      'ipv4_addr',
      hosts.filter(({ kind }) => kind === name).map(({ ip }) => ip),
    );
  const pairs = hosts
    .filter(({ ip }) => ip !== ranges.allOpen)
    .flatMap(({ ip, open }) => open.map((port) => `${ip} . ${port}`));
  return `table ip lab {
${set('open', 'ipv4_addr . inet_service', pairs)}
${(['guarded', 'refusing', 'prohibiting', 'echo', 'arp'] as const).map(ofKind).join('')}
chain arriving {
type filter hook prerouting priority mangle; policy accept;
iifname "lo" accept
ip daddr ${lossyNetwork} numgen random mod 20 == 0 drop
ip protocol tcp ip daddr . tcp dport @open tproxy to 127.0.0.1:${listenerPort} accept
ip protocol tcp ip daddr ${ranges.allOpen} tproxy to 127.0.0.1:${listenerPort} accept
ip daddr @guarded_hosts drop
ip daddr @arp_hosts drop
ip daddr @echo_hosts ip protocol != icmp drop
ip daddr @refusing_hosts ip protocol icmp drop
}
chain taking {
type filter hook input priority filter; policy accept;
iifname "lo" accept
ip daddr . tcp dport @open accept
ip daddr @prohibiting_hosts ip protocol != icmp reject with icmp type admin-prohibited
}
chain leaving {
type filter hook postrouting priority mangle; policy accept;
ip saddr ${lossyNetwork} numgen random mod 20 == 0 drop
}
}
table netdev swallow {
chain swallowing {
type filter hook ingress device "${sink.interface}" priority 0; policy accept;
meta protocol ip drop
}
}
`;
}

const namePrefix = 'portolan-bench-';

export class Netlab {
  readonly hosts = drawHosts();
  readonly #scanner = `${namePrefix}${process.pid}-s`;
  readonly #target = `${namePrefix}${process.pid}-t`;
  readonly #children: ChildProcess[] = [];
  #witness = 0;

  /** Builds the network; takes about a second. @throws Error when it cannot; take it down then as well */
  async up(): Promise<void> {
    removeLeftOvers();
    ip(['netns', 'add', this.#scanner]);
    ip(['netns', 'add', this.#target]);
    this.#link(own.interface, gateway.mac);
    this.#link(own.wideInterface, '02:00:00:88:00:04');
    this.#link(sink.interface, sink.mac);
    this.#tune();
    this.#address();
    const port = await this.#listen();
    const rules = filterRules(Object.values(this.hosts).flat(), port);
    feed(['netns', 'exec', this.#target, 'nft', '-f', '-'], rules);
    this.#witness = await this.#startWitness();
  }

  /** A command line that runs on the scanner's host, and dies with this process also when this one is killed. */
  command(words: string[]): string[] {
    return ['ip', 'netns', 'exec', this.#scanner, 'setpriv', '--pdeathsig', 'KILL', ...words];
  }

  counters(): Counters {
    const counters = { sent: 0, received: 0, resets: 0 };
    for (const line of readFileSync(`/proc/${this.#witness}/net/dev`, 'utf8').split('\n').slice(2)) {
      const [name = '', ...numbers] = line.trim().split(/[:\s]+/);
      if (name === '' || name === 'lo') continue;
      counters.received += Number(numbers[1]);
      counters.sent += Number(numbers[9]);
    }
    const [, names = '', values = ''] =
      /^Tcp: (.*)\nTcp: (.*)$/m.exec(readFileSync(`/proc/${this.#witness}/net/snmp`, 'utf8')) ?? [];
    counters.resets = Number(values.split(' ')[names.split(' ').indexOf('OutRsts')]);
    return counters;
  }

  /** Takes the network away, also a half-built one. */
  down(): void {
    for (const child of this.#children) child.kill('SIGKILL');
    for (const name of [this.#scanner, this.#target]) removeNamespace(name);
  }

  #link(name: string, targetMac: string): void {
    const [scanner, target] = [this.#scanner, this.#target];
    ip(['link', 'add', name, 'netns', scanner, 'type', 'veth', 'peer', 'name', name, 'netns', target]);
    ip(['-n', target, 'link', 'set', name, 'address', targetMac]);
    for (const host of [scanner, target]) {
      // As on a wire: checksums are computed before a packet leaves.
      on(host, ['ethtool', '-K', name, 'tx', 'off']);
      ip(['-n', host, 'link', 'set', name, 'txqueuelen', '10000']);
    }
  }

  #tune(): void {
    const both = ['net.ipv6.conf.all.disable_ipv6=1', 'net.ipv4.conf.all.rp_filter=0'];
    on(this.#scanner, [
      'sysctl',
      '-eqw',
      ...both,
      'net.ipv4.ip_local_port_range=10000 60999',
      'net.ipv4.tcp_tw_reuse=1',
    ]);
    on(this.#target, [
      'sysctl',
      '-eqw',
      ...both,
      'net.ipv4.ip_forward=0',
      'net.ipv4.icmp_ratelimit=0',
      'net.core.somaxconn=65535',
      'net.ipv4.tcp_max_syn_backlog=65535',
    ]);
  }

  #address(): void {
    const links = ['lo', own.interface, own.wideInterface, sink.interface];
    const up = links.map((name) => `link set ${name} up`);
    batch(this.#scanner, [
      ...up,
      `addr add ${own.source}/17 dev ${own.interface}`,
      `addr add ${own.wideSource}/16 dev ${own.wideInterface}`,
      `addr add ${sink.source}/30 dev ${sink.interface}`,
      `route add 10.88.128.0/17 via ${gateway.ip}`,
      `route add ${sink.ip}/12 via 10.95.0.2`,
    ]);
    batch(this.#target, [
      ...up,
      `addr add ${gateway.ip}/17 dev ${own.interface}`,
      `addr add 10.95.0.2/30 dev ${sink.interface}`,
      `route add ${own.wideSource}/32 dev ${own.wideInterface}`,
      ...Object.values(this.hosts)
        .flat()
        .map((host) => `route add local ${host.ip}/32 dev lo table local`),
    ]);
  }

  async #listen(): Promise<number> {
    const file = join(import.meta.dirname, 'netlab-listener.ts');
    const child = spawn('ip', ['netns', 'exec', this.#target, process.execPath, file], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#children.push(child);
    const [line] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(10_000) });
    return Number(line);
  }

  /** A process that only lives on the scanner's host: through it /proc shows the counters there. It ends with this one. */
  async #startWitness(): Promise<number> {
    const child = spawn('ip', ['netns', 'exec', this.#scanner, 'cat'], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    this.#children.push(child);
    const pid = child.pid as number;
    for (let tries = 0; tries < 100; tries++) {
      if (readFileSync(`/proc/${pid}/net/dev`, 'utf8').includes(`${own.interface}:`)) return pid;
      await sleep(20);
    }
    throw new Error('the namespace of the scanner does not show its interfaces');
  }
}

function ip(args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: 30_000 });
}

function batch(host: string, lines: string[]): void {
  feed(['-n', host, '-batch', '-'], lines.join('\n'));
}

function feed(args: string[], input: string): void {
  execFileSync('ip', args, { input, stdio: ['pipe', 'ignore', 'inherit'], timeout: 30_000 });
}

function on(host: string, command: string[]): void {
  execFileSync('ip', ['netns', 'exec', host, ...command], {
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 30_000,
  });
}

function removeNamespace(name: string): void {
  if (!existsSync(`/run/netns/${name}`)) return;
  ip(['netns', 'del', name]);
}

/** Of runs that were killed and could not clean up. */
function removeLeftOvers(): void {
  const names = execFileSync('ip', ['netns', 'list'], { encoding: 'utf8', timeout: 30_000 });
  for (const [name, pid] of names.matchAll(new RegExp(`^${namePrefix}(\\d+)-[st]`, 'gm'))) {
    if (!existsSync(`/proc/${pid}`)) removeNamespace(name);
  }
}
