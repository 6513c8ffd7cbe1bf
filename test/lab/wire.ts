import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** A packet that left the scanner, as tcpdump saw it. */
export interface Packet {
  /** Seconds */
  time: number;
  kind: 'syn' | 'echo' | 'other';
  host: string;
  /** 0 for an echo request. */
  port: number;
  /** Bytes of payload. */
  length: number;
}

export interface Run {
  exitCode: number | null;
  stdout: string;
  stderr: string;
  packets: Packet[];
}

const portolan = fileURLToPath(new URL('../../bin/portolan', import.meta.url));

const routeToTargets = ['10.82.0.0/15', 'via', '10.81.0.2'];

/** Accepts on every address that a host has, and stays silent. */
const listener = `
for (const port of process.argv.slice(1)) require('node:net').createServer((socket) => {
  socket.on('error', () => undefined).resume();
}).listen(Number(port), '::', 4096);`;

/**
 * Two hosts, one link, no way out. The scanner is 10.81.0.1 and fd81::1; the other host is every address of
 * 10.82.0.0/16 and of fd82::/64, and swallows what is sent to 10.83.0.0/16.
 */
export class Wire {
  readonly folder = mkdtempSync(join(tmpdir(), 'portolan-wire-'));
  readonly #scanner: string;
  readonly #target: string;
  readonly #listeners: ChildProcess[] = [];

  constructor(prefix: string) {
    this.#scanner = `${prefix}-wire-s`;
    this.#target = `${prefix}-wire-t`;
    const [scanner, target] = [this.#scanner, this.#target];
    ip('netns', 'add', scanner);
    ip('netns', 'add', target);
    ip('link', 'add', 'eth0', 'netns', scanner, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', target);
    for (const [host, number] of [
      [scanner, 1],
      [target, 2],
    ] as const) {
      ip('-n', host, 'link', 'set', 'lo', 'up');
      ip('-n', host, 'link', 'set', 'eth0', 'up');
      ip('-n', host, 'addr', 'add', `10.81.0.${number}/24`, 'dev', 'eth0');
      ip('-n', host, 'addr', 'add', `fd81::${number}/64`, 'dev', 'eth0', 'nodad');
    }
    ip('-n', scanner, 'route', 'add', ...routeToTargets);
    ip('-n', scanner, 'route', 'add', 'fd82::/64', 'via', 'fd81::2');
    ip('-n', target, 'route', 'add', 'local', '10.82.0.0/16', 'dev', 'lo');
    ip('-n', target, 'route', 'add', 'local', 'fd82::/64', 'dev', 'lo');
    ip('-n', target, 'route', 'add', 'blackhole', '10.83.0.0/16');
    // Answers as fast as it is asked, echo and refusals alike.
    this.#on(target, ['sysctl', '-qw', 'net.ipv4.icmp_ratelimit=0', 'net.ipv6.icmp.ratelimit=0']);
  }

  /** Starts a program on the other host that accepts on these ports. */
  async listen(ports: readonly number[]): Promise<void> {
    const command = [process.execPath, '-e', listener, ...ports.map(String)];
    const child = spawn('ip', ['netns', 'exec', this.#target, ...command], { stdio: 'ignore' });
    this.#listeners.push(child);
    const listening = () => this.#on(this.#target, ['ss', '-Hltn']).split('\n').length > ports.length;
    for (let tries = 0; tries < 600 && !listening(); tries++) await sleep(50);
  }

  /** Runs a scan on the scanner's host and captures what leaves it. `during` may disturb it. */
  async scan(
    args: string[],
    options: { config?: string; caps?: boolean; during?: Disturbance } = {},
  ): Promise<Run> {
    const capture = await this.#capture();
    const config = join(this.folder, 'portolan.yaml');
    writeFileSync(config, options.config ?? '');
    const drop = options.caps === false ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];
    const keep = ['--config', config, '--workspace-dir', join(this.folder, 'workspace')];
    const command = [...drop, process.execPath, portolan, 'scan', ...args, '--format', 'json', ...keep];
    const child = spawn('ip', ['netns', 'exec', this.#scanner, ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 240_000,
      killSignal: 'SIGKILL',
    });
    const [stdout, stderr, [exitCode]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
      options.during?.(child),
    ]);
    return { exitCode, stdout, stderr, packets: await capture() };
  }

  /** Runs a program of this project on the scanner's host and captures what leaves it, unless that is too much. */
  async run(file: string, args: string[], options: { captured?: boolean } = {}): Promise<Run> {
    const capture = options.captured === false ? async () => [] : await this.#capture();
    const child = spawn('ip', ['netns', 'exec', this.#scanner, process.execPath, file, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 240_000,
      killSignal: 'SIGKILL',
    });
    const [stdout, stderr, [exitCode]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { exitCode, stdout, stderr, packets: await capture() };
  }

  /** A network behind a gateway on the link that may or may not be there. */
  addRoute(network: string, gateway: string): void {
    ip('-n', this.#scanner, 'route', 'add', network, 'via', gateway);
  }

  setLink(state: 'up' | 'down'): void {
    ip('-n', this.#scanner, 'link', 'set', 'eth0', state);
    // Taking a link down took its route along.
    if (state === 'up') ip('-n', this.#scanner, 'route', 'replace', ...routeToTargets);
  }

  /** Takes the other end of the link down: the scanner's interface is up, and has no carrier. */
  setCarrier(state: 'up' | 'down'): void {
    ip('-n', this.#target, 'link', 'set', 'eth0', state);
  }

  /** Lets everybody on the scanner's host ping, as many distributions do. */
  /** Waits until so many more frames have left the scanner. */
  async sent(frames: number): Promise<void> {
    const count = () => Number(this.#on(this.#scanner, ['cat', '/sys/class/net/eth0/statistics/tx_packets']));
    const before = count();
    while (count() < before + frames) await sleep(50);
  }

  allowPing(): void {
    this.#on(this.#scanner, ['sysctl', '-qw', 'net.ipv4.ping_group_range=0 2147483647']);
  }

  /** Rules of nftables on the other host, in place of those before; empty = none. */
  filter(rules: string): void {
    const input = `flush ruleset\n${rules}\n`;
    execFileSync('ip', ['netns', 'exec', this.#target, 'nft', '-f', '-'], { input });
  }

  /** Starts a program of this project on the other host; it ends with the hosts. Resolves once it has printed something. */
  async answer(file: string, args: string[]): Promise<ChildProcess> {
    const child = spawn('ip', ['netns', 'exec', this.#target, process.execPath, file, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#listeners.push(child);
    await once(child.stdout, 'data');
    return child;
  }

  down(): void {
    for (const child of this.#listeners) child.kill('SIGKILL');
    ip('netns', 'del', this.#scanner);
    ip('netns', 'del', this.#target);
    rmSync(this.folder, { recursive: true, force: true });
  }

  #on(host: string, command: string[]): string {
    return execFileSync('ip', ['netns', 'exec', host, ...command], { encoding: 'utf8' });
  }

  /** Starts tcpdump; the function that is returned ends it a moment later and gives the packets. */
  async #capture(): Promise<() => Promise<Packet[]>> {
    const command = [
      'tcpdump',
      '-i',
      'eth0',
      '-Q',
      'out',
      '-nn',
      '-tt',
      '-l',
      '-s',
      '128',
      '-B',
      '32768',
      'tcp or icmp or icmp6',
    ];
    const child = spawn('ip', ['netns', 'exec', this.#scanner, ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = text(child.stdout);
    await once(child.stderr, 'data');
    child.stderr.resume();
    await sleep(200);
    return async () => {
      await sleep(1200);
      child.kill('SIGINT');
      return (await output).split('\n').flatMap(parsePacket);
    };
  }
}

export type Disturbance = (scan: ChildProcess) => Promise<void>;

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

function parsePacket(line: string): Packet[] {
  const [, time, destination, rest] = /^([\d.]+) IP6? \S+ > (\S+): (.*)/.exec(line) ?? [];
  if (time === undefined || destination === undefined || rest === undefined) return [];
  const length = Number(/length (\d+)/.exec(rest)?.[1] ?? 0);
  if (rest.startsWith('ICMP')) {
    if (!rest.includes('echo request')) return [];
    return [{ time: Number(time), kind: 'echo', host: destination, port: 0, length }];
  }
  const dot = destination.lastIndexOf('.');
  const kind = rest.startsWith('Flags [S],') ? 'syn' : 'other';
  return [
    {
      time: Number(time),
      kind,
      host: destination.slice(0, dot),
      port: Number(destination.slice(dot + 1)),
      length,
    },
  ];
}

/** Most packets in any half-open second. */
export function busiestSecond(packets: readonly Packet[]): number {
  let first = 0;
  let most = 0;
  for (const [last, { time }] of packets.entries()) {
    while (time - (packets[first] as Packet).time >= 1) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
