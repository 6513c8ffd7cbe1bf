import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { canMakeNamespaces, Namespace } from './packets/fixtures/namespace.ts';
import { rawObstacle } from './packets/linux/rights.ts';

const sendThrough = fileURLToPath(new URL('fixtures/send-through.ts', import.meta.url));
const host = '10.91.5.5';
const [tcpPort, udpPort, endPort] = [8080, 9090, 65_000];

const canRun = canMakeNamespaces && rawObstacle() === null;
if (!canRun)
  console.log('skipped: interface and source address: needs root (network namespaces) and raw packets');

const services = `
  const { createServer } = require('node:net');
  createServer((socket) => socket.on('error', () => {}).write('hello')).listen(${tcpPort});
  const udp = require('node:dgram').createSocket('udp4');
  udp.on('message', (bytes, { port, address }) => udp.send('reply', port, address));
  udp.bind(${udpPort}, '${host}', () => console.log('up'));`;

/** Everything that responds, in every way of the gate. */
const reached = {
  syn: [1],
  connections: [1],
  connection: 'open',
  banner: 'hello',
  udp: ['open'],
  asked: 'reply',
  pings: 1,
  neighbors: 1,
};

/** The kinds of packets a host sees, each with the interface it came in by and its source, without ports. */
const kinds: [name: string, pattern: RegExp][] = [
  ['arp', /^(\w+) +(?:In|B) +ARP, Request who-has \S+ tell ([\d.]+),/],
  ['icmp', /^(\w+) +In +IP ([\d.]+) > \S+ ICMP/],
  ['udp', /^(\w+) +In +IP ([\d.]+)\.\d+ > \S+ UDP/],
  ['tcp', /^(\w+) +In +IP ([\d.]+)\.\d+ > \S+ Flags/],
];

describe.skipIf(!canRun)('the way out of this machine, with two links to a host', () => {
  let scanner: Namespace;
  let target: Namespace;
  const running: ChildProcess[] = [];

  beforeAll(async () => {
    [scanner, target] = [new Namespace(), new Namespace()];
    for (const link of [1, 2]) {
      scanner.join(`eth${link}`, target);
      scanner.ip(`addr add 10.91.${link}.1/24 dev eth${link}`);
      target.ip(`addr add 10.91.${link}.2/24 dev eth${link}`);
      scanner.ip(`route add default via 10.91.${link}.2 dev eth${link} metric ${link}`);
    }
    scanner.ip('addr add 10.91.1.9/24 dev eth1');
    target.ip(`addr add ${host}/32 dev lo`);
    for (const key of ['all', 'default', 'eth1', 'eth2'])
      for (const each of [scanner, target]) each.exec('sysctl', '-qw', `net.ipv4.conf.${key}.rp_filter=0`);
    await start([process.execPath, '-e', services], 'stdout');
  });
  afterEach(() => {
    for (const child of running.splice(1)) child.kill('SIGKILL');
  });
  afterAll(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
    scanner?.close();
    target?.close();
  });

  async function start(command: string[], ready: 'stdout' | 'stderr'): Promise<ChildProcess> {
    const child = spawn('ip', ['netns', 'exec', target.name, ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.push(child);
    const said = child[ready];
    if (said) await once(said, 'data');
    return child;
  }

  /** What the host sees of a run, as lines of tcpdump. */
  async function seen(order: object): Promise<{ found: unknown; lines: string[] }> {
    const dump = ['tcpdump', '-i', 'any', '-nn', '-t', '-l', '--immediate-mode', 'arp or ip'];
    const capture = await start(dump, 'stderr');
    let text = '';
    const end = new Promise<void>((resolve) => {
      capture.stdout?.on('data', (more: Buffer) => {
        text += more.toString();
        if (text.includes(`.${endPort}:`)) resolve();
      });
    });
    const found = await scanner.run(sendThrough, { host, tcpPort, udpPort, ...order });
    target.exec('bash', '-c', `echo > /dev/udp/127.0.0.1/${endPort}`);
    await end;
    return { found, lines: text.split('\n').filter((line) => line.startsWith('eth')) };
  }

  /** By kind, the ways that its packets came: interface and source. */
  function ways(lines: string[]): Record<string, string[]> {
    return Object.fromEntries(
      kinds.map(([name, pattern]) => {
        const found = lines.flatMap((line) => {
          const [, link, source] = pattern.exec(line) ?? [];
          return link ? [`${link} ${source}`] : [];
        });
        return [name, [...new Set(found)]];
      }),
    );
  }

  const only = (way: string) => ({ arp: [way], icmp: [way], udp: [way], tcp: [way] });

  it('is the interface that was chosen, for every kind of packet and connection', async () => {
    const { found, lines } = await seen({ egress: { interface: 'eth2' }, neighbor: '10.91.2.2' });
    expect(found).toEqual(reached);
    // The kernel itself resets half-open connections, by its routing table.
    const resets = /^eth1 .*(?:10\.91\.2\.1\.\d+ > .* Flags \[R|who-has 10\.91\.1\.2 tell)/;
    expect(ways(lines.filter((line) => !resets.test(line)))).toEqual(only('eth2 10.91.2.1'));
  });

  it('is the source address that was chosen; the port is that of raw packets and UDP probes', async () => {
    const egress = { sourceIp: '10.91.1.9', sourcePort: 40_001 };
    const { found, lines } = await seen({ egress, neighbor: '10.91.1.2' });
    expect(found).toEqual(reached);
    expect(ways(lines)).toEqual(only('eth1 10.91.1.9'));
    const fromPort = (what: string) => lines.some((line) => line.includes(`.40001 > ${host}.${what}`));
    expect([fromPort(`${tcpPort}: Flags [S]`), fromPort(`${udpPort}: UDP`)]).toEqual([true, true]);
  });
});
