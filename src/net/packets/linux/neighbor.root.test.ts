import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canMakeNamespaces, Namespace } from '../fixtures/namespace.ts';
import type { NeighborLookup, NeighborQuery } from '../fixtures/resolve-neighbors.ts';

const resolveNeighbors = fileURLToPath(new URL('../fixtures/resolve-neighbors.ts', import.meta.url));
const sendFrames = fileURLToPath(new URL('../fixtures/send-frames.ts', import.meta.url));

const ownMac = '000c29000001';
const peerMac = '000c29000002';
const live = [2, 3, 77, 200, 253].map((at) => `10.9.0.${at}`);

describe.skipIf(!canMakeNamespaces)('neighbors, as a namespace has them', () => {
  let own: Namespace;
  let peer: Namespace;

  beforeAll(() => {
    own = new Namespace();
    peer = new Namespace();
    own.join('eth0', peer);
    own.ip('link set eth0 address 00:0c:29:00:00:01');
    peer.ip('link set eth0 address 00:0c:29:00:00:02');
    own.ip('addr add 10.9.0.1/24 dev eth0');
    own.ip('addr add fd09::1/64 dev eth0 nodad');
    for (const address of live) peer.ip(`addr add ${address}/24 dev eth0`);
    for (const at of [2, 5, 999]) peer.ip(`addr add fd09::${at}/64 dev eth0 nodad`);
    own.ip('route add 10.20.0.0/24 via 10.9.0.2');
    own.ip('route add 10.21.0.0/24 via 10.9.0.66');
    own.ip('route add 10.22.0.0/24 via inet6 fd09::5 dev eth0');
    own.ip('-6 route add fd20::/64 via fd09::2');
    own.join('eth1', peer);
    own.ip('addr add 10.8.0.1/24 dev eth1');
  });

  afterAll(() => {
    own?.close();
    peer?.close();
  });

  const resolve = (query: NeighborQuery) => own.run<NeighborLookup>(resolveNeighbors, query);

  it('finds every host of a /24 by ARP, each once', async () => {
    const { found, taken } = await resolve({
      first: '10.9.0.2',
      last: '10.9.0.254',
      timeoutMs: 200,
      retries: 1,
    });
    expect(found.map(({ address }) => address).sort()).toEqual([...live].sort());
    for (const { mac, latencyMs } of found) {
      expect(mac).toBe(peerMac);
      expect(latencyMs).toBeGreaterThan(0);
    }
    // 253 requests, and one retry for each silent address.
    expect(taken).toBe(253 + 248);
  });

  it('finds hosts by Neighbor Discovery', async () => {
    const { found } = await resolve({ first: 'fd09::2', last: 'fd09::fff', timeoutMs: 200 });
    expect(found.map(({ address, mac }) => `${address} ${mac}`).sort()).toEqual([
      `fd09::2 ${peerMac}`,
      `fd09::5 ${peerMac}`,
      `fd09::999 ${peerMac}`,
    ]);
  });

  it('sends no more than it may', async () => {
    const counter = () => Number(peer.exec('cat', '/sys/class/net/eth0/statistics/rx_packets'));
    const before = counter();
    await resolve({ first: '10.9.0.2', last: '10.9.0.254', timeoutMs: 100, retries: 0, budget: 100 });
    // What the kernels say to each other by themselves comes on top.
    expect(counter() - before).toBeLessThan(110);
    expect(counter() - before).toBeGreaterThanOrEqual(100);
  });

  it('finds the MAC of a gateway, of an IPv6 gateway of an IPv4 route too', async () => {
    for (const first of ['10.20.0.1', 'fd20::1', '10.22.0.1']) {
      expect(await resolve({ first, gateway: true })).toMatchObject({
        problem: null,
        found: [{ mac: peerMac }],
      });
    }
  });

  it('takes a confirmed gateway entry from the kernel without a request', async () => {
    own.ip('neigh replace 10.9.0.66 lladdr 00:0c:29:00:00:66 dev eth0 nud permanent');
    try {
      const { found, taken } = await resolve({ first: '10.21.0.1', gateway: true });
      expect(found).toMatchObject([{ mac: '000c29000066' }]);
      expect(taken).toBe(0);
    } finally {
      own.ip('neigh del 10.9.0.66 dev eth0');
    }
  });

  it('says that a gateway is silent, after three tries', async () => {
    const { problem, taken } = await resolve({ first: '10.21.0.1', gateway: true });
    expect(problem).toBe('the gateway of interface eth0 does not respond');
    expect(taken).toBe(3);
  });

  it('says so when the link is down, and does not spin', async () => {
    const running = resolve({ first: '10.8.0.2', last: '10.8.0.9', timeoutMs: 2000, retries: 1 });
    own.ip('link set eth1 down');
    const { problem, taken } = await running;
    expect(problem).toMatch(/interface eth1 is down|eth1: cannot resolve neighbors: ENETDOWN/);
    expect(taken).toBeLessThanOrEqual(16);
  });

  it('ignores unsolicited replies and broken frames', async () => {
    const evil = '00e04c000bad';
    const arp = (fields: { operation?: string; sender: string; target?: string; mac?: string }) =>
      `${ownMac}${evil}0806000108000604${fields.operation ?? '0002'}${fields.mac ?? evil}${fields.sender}` +
      `${ownMac}${fields.target ?? '0a090001'}`;
    const frames = [
      arp({ sender: '0a0900c9' }), // 10.9.0.201, which gets no request
      arp({ sender: '0a090040', operation: '0001' }), // a request
      arp({ sender: '0a090041', target: '0a0900fa' }), // to another host
      arp({ sender: '0a090042', mac: 'ffffffffffff' }),
      arp({ sender: '0a090043', mac: ownMac }),
      arp({ sender: '0a090044', mac: '000000000000' }),
      arp({ sender: '0a090045' }).slice(0, -4), // cut short
      arp({ sender: '0a090046' }).replace('08000604', '08000610'),
      `${ownMac}${evil}0806`,
    ];
    const noise = peer.run<number>(sendFrames, { interface: 'eth0', frames });
    const { found } = await resolve({ first: '10.9.0.2', last: '10.9.0.100', timeoutMs: 800, retries: 1 });
    expect(await noise).toBeGreaterThan(100);
    expect(found.map(({ address, mac }) => `${address} ${mac}`).sort()).toEqual(
      ['10.9.0.2', '10.9.0.3', '10.9.0.77'].map((address) => `${address} ${peerMac}`),
    );
  });

  it('accepts a reply that another host sends for a silent address: ARP cannot distinguish them', async () => {
    const frame = `${ownMac}00e04c000bad080600010800060400020${'0e04c000bad'}0a090040${ownMac}0a090001`;
    const noise = peer.run<number>(sendFrames, { interface: 'eth0', frames: [frame] });
    const { found } = await resolve({ first: '10.9.0.64', timeoutMs: 1000, retries: 2 });
    await noise;
    expect(found).toMatchObject([{ address: '10.9.0.64', mac: '00e04c000bad' }]);
  });
});
