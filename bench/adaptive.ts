/**
 * Sweeps of hosts that bear only so much, at `--rate auto` beside `--rate 1000`: what they find, how many packets it takes, and
 * how long a host is silent. Everything is in namespaces of its own without a way out. Needs root, nft and ethtool.
 *
 *   npm run bench:adaptive
 *   npm run bench:adaptive -- --host delay,silence --scan-type connect
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { Namespace } from '../src/net/packets/fixtures/namespace.ts';
import type { WireOptions, WireReport } from './wire.ts';

interface LimitedHosts {
  name: string;
  title: string;
  /** Number of ports, from 1 on, and of addresses. */
  ports: number;
  addresses: number;
  /** What becomes of probes on their way in, and of responses: rules of nft. */
  arriving?: string;
  leaving?: string;
  delayMs?: number;
  silentAbove?: number;
}

interface Result {
  summary: { coverage: { open: number; closed: number } };
}

interface Outcome {
  responded: number;
  probes: number;
  seconds: number;
  longestSilenceMs: number;
}

/** Packets against those at rate 1000, and milliseconds of silence. */
const most = { packets: 1.3, silenceMs: 1000 };
const portolan = join(import.meta.dirname, '..', 'bin', 'portolan');
const isSyn = 'tcp flags & (syn | ack) == syn';
const isReset = 'tcp flags & rst == rst';

const everyHost: LimitedHosts[] = [
  { name: 'plain', title: 'bears everything', ports: 20_000, addresses: 1 },
  {
    name: 'policer',
    title: 'drops above 5,000/s',
    ports: 20_000,
    addresses: 1,
    arriving: 'limit rate over 5000/second burst 200 packets drop',
  },
  {
    name: 'resets',
    title: 'sends 25 RST/s',
    ports: 300,
    addresses: 1,
    leaving: `${isReset} limit rate over 25/second burst 5 packets drop`,
  },
  {
    name: 'link',
    title: '200 hosts behind 2,000 packets/s',
    ports: 75,
    addresses: 200,
    arriving: 'limit rate over 2000/second burst 100 packets drop',
  },
  {
    name: 'loss',
    title: '5 % of the probes are lost',
    ports: 10_000,
    addresses: 1,
    arriving: 'numgen random mod 20 == 0 drop',
  },
  { name: 'delay', title: 'responds after 300 ms', ports: 20_000, addresses: 1, delayMs: 150 },
  {
    name: 'silence',
    title: 'falls silent above 5,000/s',
    ports: 20_000,
    addresses: 1,
    silentAbove: 5000,
  },
  {
    name: 'silence-every-port',
    title: 'falls silent above 5,000/s, every port',
    ports: 65_535,
    addresses: 1,
    silentAbove: 5000,
  },
];

/** The process of bench/wire.ts. */
class Wire {
  readonly ready: Promise<unknown>;
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  #printed = '';

  constructor(process: ChildProcessByStdio<Writable, Readable, null>) {
    this.#process = process;
    process.stdout.setEncoding('utf8').on('data', (printed: string) => {
      this.#printed += printed;
    });
    this.ready = once(process.stdout, 'data');
  }

  async end(): Promise<WireReport> {
    this.#process.stdin.end();
    await once(this.#process, 'close');
    return JSON.parse(this.#printed.slice(this.#printed.indexOf('{'))) as WireReport;
  }
}

/** Scanner and hosts with a wire between them. */
class Lab {
  readonly #scanner = new Namespace();
  readonly #between = new Namespace();
  readonly #hosts = new Namespace();
  readonly #limits: LimitedHosts;

  constructor(limits: LimitedHosts) {
    this.#limits = limits;
    this.#scanner.join('eth0', this.#between, 'near');
    this.#hosts.join('eth0', this.#between, 'far');
    for (const host of [this.#scanner, this.#hosts]) {
      // As on a wire: checksums are computed before a packet leaves.
      host.exec('ethtool', '-K', 'eth0', 'tx', 'off');
      host.ip('link set eth0 txqueuelen 10000');
    }
    this.#scanner.ip('address add 10.85.0.1/16 dev eth0');
    for (let at = 1; at <= limits.addresses; at++) this.#hosts.ip(`address add 10.85.1.${at}/16 dev eth0`);
    this.#hosts.exec('sysctl', '-qw', 'net.ipv4.icmp_ratelimit=0');
    this.#limit();
  }

  get targets(): string {
    const { addresses } = this.#limits;
    return addresses === 1 ? '10.85.1.1' : `10.85.1.1-10.85.1.${addresses}`;
  }

  close(): void {
    for (const each of [this.#scanner, this.#between, this.#hosts]) each.close();
  }

  async sweep(rate: string, scanType: string): Promise<Outcome> {
    const { ports, delayMs = 0, silentAbove = 0 } = this.#limits;
    const wire = await this.#openWire({ ends: ['near', 'far'], delayMs, silentAbove });
    const startedAt = performance.now();
    const where = ['netns', 'exec', this.#scanner.name];
    const what = ['scan', this.targets, '--ports', `1-${ports}`, '--rate', rate, '--scan-type', scanType];
    const only = ['--no-discover', '--no-fingerprint', '--no-workspace', '--format', 'json', '--quiet'];
    const scan = spawn('ip', [...where, portolan, ...what, ...only, '--timeout', '3s'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const result = JSON.parse(await text(scan.stdout)) as Result;
    const seconds = (performance.now() - startedAt) / 1000;
    const { open, closed } = result.summary.coverage;
    return { responded: open + closed, seconds, ...(await wire.end()) };
  }

  async #openWire(options: WireOptions): Promise<Wire> {
    const file = join(import.meta.dirname, 'wire.ts');
    const command = ['netns', 'exec', this.#between.name, process.execPath, file, JSON.stringify(options)];
    const wire = new Wire(spawn('ip', command, { stdio: ['pipe', 'pipe', 'inherit'] }));
    await wire.ready;
    return wire;
  }

  #limit(): void {
    const { arriving, leaving } = this.#limits;
    const nft = (rule: string) => this.#hosts.exec('nft', rule);
    nft('add table ip trial');
    nft('add chain ip trial input { type filter hook input priority 0 ; }');
    nft('add chain ip trial output { type filter hook output priority 0 ; }');
    if (arriving) nft(`add rule ip trial input ${isSyn} ${arriving}`);
    if (leaving) nft(`add rule ip trial output ${leaving}`);
  }
}

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: everyHost.map(({ name }) => name).join() },
    'scan-type': { type: 'string', default: 'syn' },
  },
});
const chosen = values.host.split(',').map((name) => {
  const host = everyHost.find((each) => each.name === name);
  if (!host) throw new Error(`no host "${name}": ${everyHost.map((each) => each.name).join(', ')}`);
  return host;
});
let hasMissed = false;

console.log('| host | rate | responded | packets | against 1,000/s | seconds | longest silence, ms | bars |');
console.log('|---|---|---|---|---|---|---|---|');
for (const limits of chosen) {
  const lab = new Lab(limits);
  try {
    const fixed = await lab.sweep('1000', values['scan-type']);
    const adaptive = await lab.sweep('auto', values['scan-type']);
    printRow(limits, '1,000', fixed, fixed, '');
    printRow(limits, 'auto', adaptive, fixed, verdictOf(adaptive, fixed));
  } finally {
    lab.close();
  }
}
process.exitCode = hasMissed ? 1 : 0;

function verdictOf(adaptive: Outcome, fixed: Outcome): string {
  const missed = [
    ...(adaptive.responded < fixed.responded ? ['finds less'] : []),
    ...(adaptive.probes > most.packets * fixed.probes ? [`packets > ${most.packets}`] : []),
    ...(adaptive.longestSilenceMs > most.silenceMs ? [`silence > ${most.silenceMs} ms`] : []),
  ];
  hasMissed ||= missed.length > 0;
  return missed.length === 0 ? 'met' : `**missed**: ${missed.join(', ')}`;
}

function printRow(
  { title, ports, addresses }: LimitedHosts,
  rate: string,
  outcome: Outcome,
  fixed: Outcome,
  verdict: string,
): void {
  const { responded, probes, seconds, longestSilenceMs } = outcome;
  const cells = [
    title,
    rate,
    `${responded} / ${ports * addresses}`,
    probes,
    (probes / fixed.probes).toFixed(2),
    seconds.toFixed(1),
    Math.round(longestSilenceMs),
    verdict,
  ];
  console.log(`| ${cells.join(' | ')} |`);
}
