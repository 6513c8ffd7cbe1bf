import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Address, parseAddress } from '../../../domain/targets/address.ts';
import { canMakeNamespaces, Namespace } from '../fixtures/namespace.ts';
import { RouteTable } from './route.ts';

const resolveRoutes = fileURLToPath(new URL('../fixtures/resolve-routes.ts', import.meta.url));

interface Shown {
  interface: string;
  index: number;
  mtu: number;
  link: string;
  family: number;
  source: string;
  gateway: string | null;
  mac: string | null;
}
type RouteQuery = string | { address: string; interface?: string; source?: string };

describe('the routes of this machine', () => {
  it('reaches loopback through the kernel', () => {
    const table = RouteTable.read();
    for (const text of ['127.0.0.1', '127.9.8.7']) {
      const route = table.lookup(parseAddress(text) as Address);
      expect(route).toMatchObject({ interface: 'lo', link: 'ip', family: 4, gateway: null, mac: null });
    }
  });
});

describe.skipIf(!canMakeNamespaces)('routes, as a namespace has them', () => {
  let own: Namespace;
  let peer: Namespace;

  beforeAll(() => {
    own = new Namespace();
    peer = new Namespace();
    own.join('eth0', peer);
    own.join('eth1', peer);
    own.join('eth2', peer);
    own.ip('link set eth0 address 00:0c:29:00:00:01');
    own.ip('addr add 10.9.0.1/24 dev eth0');
    own.ip('addr add 10.9.0.9/24 dev eth0');
    own.ip('addr add fd09::1/64 dev eth0 nodad');
    own.ip('addr add 10.8.0.1/24 dev eth1');
    own.ip('addr add 10.7.0.1/24 dev eth2');
    own.ip('link set eth1 down');
    peer.ip('link set eth2 down');
    own.ip('link add br0 type bridge');
    own.join('port0', peer);
    own.ip('link set port0 master br0');
    own.ip('link set br0 up mtu 1400');
    own.ip('addr add 10.6.0.1/24 dev br0');
    own.ip('link add mv0 link eth0 type macvlan mode bridge');
    own.ip('link set mv0 up');
    own.ip('addr add 10.5.0.1/24 dev mv0');
    own.ip('tuntap add tun0 mode tun');
    own.ip('addr add 10.4.0.1/24 dev tun0');
    own.ip('link set tun0 up');
    own.ip('route add 10.20.0.0/16 via 10.9.0.2');
    own.ip('route add 10.20.5.0/24 via 10.6.0.2');
    own.ip('route add 10.21.0.0/24 via inet6 fd09::2 dev eth0');
    own.ip('route add prohibit 10.30.0.0/24');
    own.ip('route add unreachable 10.31.0.0/24');
    own.ip('route add blackhole 10.32.0.0/24');
    own.ip('route add 10.33.0.0/24 via 10.9.0.2 mtu 1280');
    own.ip('-6 route add fd20::/64 via fd09::2');
    own.ip('-6 route add prohibit fd30::/64');
    own.ip('-6 route add blackhole fd32::/64');
    // One network in two halves by a rule: only the upper half goes another way.
    own.ip('route add 10.40.0.0/24 via 10.9.0.2');
    own.ip('route add 10.40.0.0/16 via 10.6.0.2 table 100');
    own.ip('rule add to 10.40.0.128/25 lookup 100');
    own.ip('route add 10.50.0.0/24 nexthop via 10.9.0.2 nexthop via 10.6.0.2');
  });

  afterAll(() => {
    own?.close();
    peer?.close();
  });

  async function resolve(...queries: RouteQuery[]): Promise<(Shown | string)[]> {
    const list = queries.map((each) => (typeof each === 'string' ? { address: each } : each));
    return (await own.run<{ answers: (Shown | string)[] }>(resolveRoutes, list)).answers;
  }

  it('distinguishes neighbors from hosts behind a gateway', async () => {
    const eth0 = { interface: 'eth0', link: 'ethernet', mtu: 1500, mac: '000c29000001' };
    expect(await resolve('10.9.0.77', '10.20.1.1', '10.20.5.1', '10.21.0.5', '10.33.0.1')).toMatchObject([
      { ...eth0, source: '10.9.0.1', gateway: null, family: 4 },
      { ...eth0, source: '10.9.0.1', gateway: '10.9.0.2' },
      { interface: 'br0', link: 'ethernet', source: '10.6.0.1', gateway: '10.6.0.2', mtu: 1400 },
      { ...eth0, source: '10.9.0.1', gateway: 'fd09::2', family: 4 },
      { ...eth0, gateway: '10.9.0.2', mtu: 1280 },
    ]);
  });

  it('knows bridges and further kinds of Ethernet', async () => {
    expect(await resolve('10.6.0.2', '10.5.0.2')).toMatchObject([
      { interface: 'br0', link: 'ethernet', gateway: null },
      { interface: 'mv0', link: 'ethernet', gateway: null },
    ]);
  });

  it('reaches own addresses and loopback through the kernel', async () => {
    const ip = { interface: 'lo', link: 'ip', gateway: null, mac: null };
    const queries = [
      '10.9.0.1',
      '10.8.0.1',
      '127.0.0.1',
      '::1',
      'fd09::1',
      { address: '10.9.0.9', interface: 'br0' },
    ];
    expect(await resolve(...queries)).toMatchObject([ip, ip, ip, ip, ip, ip]);
  });

  it('knows IPv6: neighbors, gateways, link-local addresses', async () => {
    const [near, far, local, missing, remote] = await resolve(
      'fd09::77',
      'fd20::1',
      'fe80::77%eth0',
      'fe80::77',
      { address: 'fe80::77%eth0', interface: 'br0' },
    );
    expect(near).toMatchObject({ interface: 'eth0', source: 'fd09::1', gateway: null, family: 6 });
    expect(far).toMatchObject({ interface: 'eth0', source: 'fd09::1', gateway: 'fd09::2', family: 6 });
    expect(local).toMatchObject({
      interface: 'eth0',
      source: expect.stringMatching(/^fe80::/),
      gateway: null,
    });
    expect(missing).toBe('fe80::77 needs an interface: fe80::77%NAME');
    expect(remote).toBe('fe80::77%eth0 is not on the link of interface br0');
  });

  it('says why there is no route', async () => {
    const queries = ['10.99.0.1', '10.30.0.1', '10.31.0.1', '10.32.0.1', 'fd99::1', 'fd30::1', 'fd32::1'];
    expect(await resolve(...queries, '10.9.0.255', '224.0.0.5')).toEqual([
      'no route to 10.99.0.1',
      'the route to 10.30.0.1 prohibits it',
      'no route to 10.31.0.1',
      'the route to 10.32.0.1 is a blackhole',
      'no route to fd99::1',
      'the route to fd30::1 prohibits it',
      'the route to fd32::1 is a blackhole',
      '10.9.0.255 is the broadcast address of eth0',
      'no route to 224.0.0.5',
    ]);
  });

  it('names a link that is down', async () => {
    expect(
      await resolve('10.10.0.5', '10.8.0.5', '10.7.0.5', '10.4.0.5', {
        address: '10.20.0.1',
        interface: 'eth1',
      }),
    ).toEqual([
      'no route to 10.10.0.5',
      'no route to 10.8.0.5: interface eth1 is down',
      'interface eth2 has no carrier',
      'interface tun0 has no carrier',
      'interface eth1 is down',
    ]);
  });

  it('is forced to an interface and a source only where that can be', async () => {
    const responses = await resolve(
      { address: '10.9.0.77', source: '10.9.0.9' },
      { address: '10.9.0.77', interface: 'eth0', source: '10.9.0.9' },
      { address: '10.9.0.77', interface: 'br0' },
      { address: '10.9.0.77', interface: 'eth9' },
      { address: '10.9.0.77', source: '10.9.0.200' },
      { address: '10.9.0.77', source: 'fd09::1' },
      { address: 'fd09::77', interface: 'br0' },
      { address: 'fd09::77', interface: 'eth0', source: 'fd09::1' },
    );
    const forced = { interface: 'eth0', source: '10.9.0.9' };
    expect(responses).toMatchObject([
      forced,
      forced,
      'no route to 10.9.0.77 through br0',
      'no such interface: eth9',
      '10.9.0.200 is not an address of this machine',
      '10.9.0.77 is not reachable from fd09::1',
      'no route to fd09::77 through br0',
      { interface: 'eth0', source: 'fd09::1' },
    ]);
  });

  it('follows rules, and remembers no more than what is routed alike', async () => {
    const responses = (await resolve('10.40.0.1', '10.40.0.200', '10.40.0.2', '10.40.0.201')) as Shown[];
    expect(responses.map((each) => each.gateway)).toEqual(['10.9.0.2', '10.6.0.2', '10.9.0.2', '10.6.0.2']);
    const spread = (await resolve(...Array.from({ length: 64 }, (_, at) => `10.50.0.${at + 1}`))) as Shown[];
    expect(new Set(spread.map((each) => each.gateway))).toEqual(new Set(['10.9.0.2', '10.6.0.2']));
  });

  it('lists what is attached, without own addresses', async () => {
    const { attached } = await own.run<{ attached: string[] }>(resolveRoutes, []);
    expect(attached).toEqual(
      expect.arrayContaining(['10.9.0.2 - 10.9.0.8', '10.9.0.10 - 10.9.0.254', '10.6.0.2 - 10.6.0.254']),
    );
    const first = (text: string) => text.split(' ')[0] as string;
    expect(attached.map(first).filter((text) => /^(127|10\.(20|4|8|40))\./.test(text))).toEqual([]);
    expect(attached.some((text) => text.startsWith('fd09::2 - fd09::'))).toBe(true);
    expect(attached.some((text) => /^fe80::\S*%eth0 - fe80::\S*%eth0$/.test(text))).toBe(true);
  });

  it('queries the kernel once per 4096 addresses with the same route', async () => {
    expect(await own.run(resolveRoutes, 4096)).toEqual({ queries: 3 });
  });
});

describe.skipIf(!canMakeNamespaces)('VLAN', () => {
  it('is Ethernet with the address of its interface (where the kernel has 8021q)', async ({ skip }) => {
    const [own, peer] = [new Namespace(), new Namespace()];
    try {
      own.join('eth0', peer);
      try {
        own.ip('link add link eth0 name eth0.5 type vlan id 5');
      } catch {
        console.log('skipped: VLAN: this kernel has no 8021q');
        skip('this kernel has no 8021q');
      }
      own.ip('link set eth0.5 up');
      own.ip('addr add 10.3.0.1/24 dev eth0.5');
      const { answers } = await own.run<{ answers: Shown[] }>(resolveRoutes, [{ address: '10.3.0.2' }]);
      expect(answers[0]).toMatchObject({ interface: 'eth0.5', link: 'ethernet', source: '10.3.0.1' });
    } finally {
      own.close();
      peer.close();
    }
  });
});
