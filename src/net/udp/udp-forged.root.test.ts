import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { canMakeNamespaces, Namespace } from '../packets/fixtures/namespace.ts';

const sweepScript = fileURLToPath(new URL('../fixtures/sweep-udp.ts', import.meta.url));
const forgeScript = fileURLToPath(new URL('../fixtures/forge-udp.ts', import.meta.url));
const ports = [1001, 1002, 1003, 1004, 1005, 1006];
const closedPort = 1007;

interface Swept {
  outcomes: { host: string; port: number; state: string; reason: string }[];
}

if (!canMakeNamespaces)
  console.log('skipped: forged messages about UDP probes: needs root (network namespaces)');

describe.skipIf(!canMakeNamespaces)('a UDP sweep of a host beside one that forges messages', () => {
  let own: Namespace;
  let peer: Namespace;
  let forging: ChildProcess | null = null;

  beforeAll(() => {
    own = new Namespace();
    peer = new Namespace();
    own.join('eth0', peer);
    own.ip('addr add 10.93.0.1/24 dev eth0');
    own.ip('addr add fd93::1/64 dev eth0 nodad');
    for (const host of ['10.93.0.2/24', '10.93.0.3/24']) peer.ip(`addr add ${host} dev eth0`);
    for (const host of ['fd93::2/64', 'fd93::3/64']) peer.ip(`addr add ${host} dev eth0 nodad`);
    for (const key of ['ipv4.icmp_ratelimit=0', 'ipv6.icmp.ratelimit=0'])
      peer.exec('sysctl', '-qw', `net.${key}`);
  });
  afterEach(() => {
    forging?.kill('SIGKILL');
    forging = null;
  });
  afterAll(() => {
    own?.close();
    peer?.close();
  });

  /** The states of the ports of the host that is not the forging one. */
  async function statesBeside(host: string, victim: string, order: object = {}) {
    const argument = JSON.stringify({ host, victim, ports });
    const command = ['netns', 'exec', peer.name, process.execPath, forgeScript, argument];
    const child = spawn('ip', command, { stdio: ['ignore', 'pipe', 'inherit'] });
    forging = child;
    await once(child.stdout, 'data');
    const { outcomes } = await own.run<Swept>(sweepScript, {
      targets: [host, victim],
      ports: [...ports, closedPort],
      timeoutMs: 1000,
      retries: 1,
      ...order,
    });
    const ofVictim = outcomes.filter((outcome) => outcome.host === victim);
    return Object.fromEntries(ofVictim.map(({ port, state, reason }) => [port, `${state}: ${reason}`]));
  }

  it.each([
    ['10.93.0.2', '10.93.0.3'],
    ['fd93::2', 'fd93::3'],
  ])('believes the host itself and what saw the probe to it (%s)', async (host, victim) => {
    expect(await statesBeside(host, victim)).toEqual({
      1001: 'open|filtered: no-response',
      1002: 'open|filtered: no-response',
      1003: 'open|filtered: no-response',
      1004: 'open|filtered: no-response',
      1005: 'open|filtered: no-response',
      1006: 'filtered: admin-prohibited',
      [closedPort]: 'closed: port-unreachable',
    });
  });

  it('with a chosen source port a port unreachable still counts from the host itself only', async () => {
    const states = await statesBeside('10.93.0.2', '10.93.0.3', { sourcePort: 40_053 });
    expect([states[1001], states[1005], states[closedPort]]).toEqual([
      'open|filtered: no-response',
      'open|filtered: no-response',
      'closed: port-unreachable',
    ]);
  });
});
