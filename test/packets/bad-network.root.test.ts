import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Wire } from '../lab/wire.ts';
import { isOpen } from './tarpit.ts';
import {
  canRun,
  openOf,
  type PortStates,
  recordOf,
  type ScanRecord,
  syn,
  triesOf,
  twoHosts,
} from './two-hosts.ts';

const listening = [8001, 8002, 8003, 8004, 8005, 8006, 8007, 8008];

/** Drops a share of all segments, each way. */
function loss(percent: number): string {
  const rule = `meta l4proto tcp numgen random mod 100 < ${percent} drop`;
  const chain = (hook: string) => `chain ${hook} {\ntype filter hook ${hook} priority 0\n${rule}\n}`;
  return `table inet loss {\n${chain('input')}\n${chain('output')}\n}`;
}

function sumOf({ results }: ScanRecord, state: keyof PortStates): number {
  return results.reduce((sum, { port_counts }) => sum + port_counts[state], 0);
}

describe.skipIf(!canRun)('a sweep by raw packets over a bad network', () => {
  let wire: Wire;
  beforeAll(async () => {
    wire = twoHosts();
    await wire.listen(listening);
  });
  afterAll(() => wire?.down());

  it('every packet belongs to the plan, each pair is tried once to 1 + retries times', async () => {
    // Half of the 256 addresses answer, the others swallow everything; in IPv6 all answer.
    const targets = ['10.82.255.128-10.83.0.127', 'fd82::/120'];
    const run = await wire.scan([
      ...targets,
      ...syn,
      '--ports',
      '8001-8100',
      '--retries',
      '1',
      '--rate',
      '15000',
    ]);
    const tries = triesOf(run.packets);
    const hosts = [...new Set([...tries.keys()].map((endpoint) => endpoint.split(' ')[0] as string))];
    const planned = (endpoint: string) => {
      const [host = '', port] = endpoint.split(' ');
      const is4 = /^10\.82\.255\.(12[89]|1[3-9]\d|2\d\d)$|^10\.83\.0\.(\d\d?|1[01]\d|12[0-7])$/.test(host);
      return (is4 || /^fd82::[\da-f]{0,2}$/.test(host)) && Number(port) >= 8001 && Number(port) <= 8100;
    };
    expect([...tries.keys()].filter((endpoint) => !planned(endpoint))).toEqual([]);
    expect([hosts.length, tries.size]).toEqual([512, 512 * 100]);
    expect(Math.max(...tries.values())).toBe(2);
    // The rest is resets of this machine's own kernel, to where a connection was half open.
    const others = run.packets.filter(({ kind }) => kind !== 'syn');
    expect(others.filter(({ port }) => !listening.includes(port))).toEqual([]);
    const { coverage } = recordOf(run).summary;
    const silent = 128 * 100;
    expect(coverage).toEqual({
      planned: 51_200,
      open: 384 * 8,
      closed: 384 * 92,
      filtered: silent,
      not_tried: 0,
    });
  });

  it('finds every open port while 5 % are lost each way, with hardly a packet more than that takes', async () => {
    wire.filter(loss(5));
    const targets = ['10.82.1.0/24', 'fd82::/120'];
    const run = await wire.scan([
      ...targets,
      ...syn,
      '--ports',
      '8001-8010',
      '--retries',
      '4',
      '--rate',
      '3000',
    ]);
    wire.filter('');
    const planned = (254 + 256) * 10;
    const record = recordOf(run);
    expect(record.summary.coverage.planned).toBe(planned);
    expect(record.summary.coverage.closed).toBeLessThanOrEqual(510 * 2);
    expect(openOf(record).length).toBeGreaterThanOrEqual(510 * 8 * 0.999);
    expect(new Set(openOf(record)).size).toBe(openOf(record).length);
    const probes = run.packets.filter(({ kind }) => kind === 'syn').length;
    console.log(
      `5 % loss: ${openOf(record).length} of ${510 * 8} open ports, ${probes / planned} probes an endpoint`,
    );
    // Less would mean that nothing was lost.
    expect(probes).toBeGreaterThan(planned * 1.05);
    expect(probes).toBeLessThanOrEqual(planned * 1.15);
    expect(Math.max(...triesOf(run.packets).values())).toBeLessThanOrEqual(5);
  });

  it('believes no forged answer, and counts late, doubled and reordered ones once', async () => {
    const tarpit = await wire.answer(fileURLToPath(new URL('tarpit.ts', import.meta.url)), []);
    const run = await wire.scan([
      '10.83.7.0/26',
      ...syn,
      '--ports',
      '8001-8040',
      '--retries',
      '2',
      '--rate',
      '1500',
    ]);
    tarpit.kill('SIGKILL');
    const record = recordOf(run);
    const open: string[] = [];
    for (let host = 1; host <= 62; host++)
      for (let port = 8001; port <= 8040; port++)
        if (isOpen(host, port)) open.push(`10.83.7.${host} ${port}`);
    expect(openOf(record).toSorted()).toEqual(open.toSorted());
    expect(record.summary.coverage).toEqual({
      planned: 62 * 40,
      open: open.length,
      closed: 62 * 40 - open.length,
      filtered: 0,
      not_tried: 0,
    });
    expect(record.warnings).toEqual([]);
    // A flood of lies makes nobody ask again: that would be two or three probes each. The host itself may be late.
    const probes = run.packets.filter(({ kind }) => kind === 'syn').length;
    expect(probes).toBeLessThanOrEqual(62 * 40 * 1.6);
  });

  it('counts answers once that the network doubles', async () => {
    wire.filter(
      'table netdev twice {\nchain out {\ntype filter hook egress device "eth0" priority 0\nmeta l4proto tcp dup to "eth0"\n}\n}',
    );
    const run = await wire.scan([
      '10.82.3.0/26',
      'fd82::/122',
      ...syn,
      '--ports',
      '8001-8020',
      '--rate',
      '4000',
    ]);
    wire.filter('');
    const record = recordOf(run);
    const hosts = 62 + 64;
    expect(record.summary).toMatchObject({ live_hosts: hosts, open_ports: hosts * 8 });
    expect(new Set(openOf(record)).size).toBe(hosts * 8);
    expect([sumOf(record, 'open'), sumOf(record, 'closed')]).toEqual([hosts * 8, hosts * 12]);
  });

  it('tells a silent gateway and a missing route from silence, and sweeps the rest', async () => {
    wire.addRoute('10.84.0.0/16', '10.81.0.77');
    const targets = ['10.82.4.1', '10.84.0.0/28', '10.99.0.1'];
    const run = await wire.scan([...targets, ...syn, '--ports', '8001-8010', '--rate', '2000']);
    const { warnings, summary } = recordOf(run);
    expect(warnings.map(({ message }) => message).toSorted()).toEqual([
      'no route to 10.99.0.1; 10 ports not tried',
      'the gateway of interface eth0 does not respond; the same for 13 more; 140 ports not tried',
    ]);
    expect(summary.coverage).toEqual({ planned: 160, open: 8, closed: 2, filtered: 0, not_tried: 150 });
  });

  it.each([
    ['link', 3000],
    ['carrier', 5700],
  ] as const)(
    'while the %s is away, nothing counts as closed or silent',
    async (what, awayMs) => {
      const record = await sweepWithout(what, awayMs);
      expect(record.warnings.map(({ message }) => message)).toContainEqual(
        expect.stringMatching(/interface.*(down|carrier|cannot send)|no route to/),
      );
      for (const { port_counts } of record.results) expect(port_counts.closed).toBeLessThanOrEqual(92);
      const { open, closed, filtered, not_tried } = record.summary.coverage;
      expect(filtered).toBe(0);
      expect(not_tried).toBeGreaterThan(1000);
      expect(open + closed + not_tried).toBe(25_400);
      // What was found before is kept.
      expect(openOf(record)).toHaveLength(open);
      expect(open).toBeGreaterThan(100);
    },
    60_000,
  );

  it('sends nothing into a link whose carrier is away for a moment', async () => {
    const record = await sweepWithout('carrier', 2000, ['--retries', '0']);
    expect(record.warnings).toEqual([]);
    const { open, closed, filtered, not_tried } = record.summary.coverage;
    expect([open + closed + filtered, not_tried]).toEqual([25_400, 0]);
    // Without retries, what was sent until the kernel was asked again is lost; two seconds are some 6,000.
    expect(filtered).toBeLessThan(2000);
  });

  async function sweepWithout(
    what: 'link' | 'carrier',
    awayMs: number,
    more: string[] = [],
  ): Promise<ScanRecord> {
    const set = (state: 'up' | 'down') => (what === 'link' ? wire.setLink(state) : wire.setCarrier(state));
    // Eight seconds: a busy machine sees late that two of them are over.
    const order = [...syn, '--ports', '8001-8100', '--rate', '3000', ...more];
    const run = await wire.scan(['10.82.5.0/24', ...order], {
      during: async () => {
        await wire.sent(6000);
        set('down');
        await sleep(awayMs);
        set('up');
      },
    });
    return recordOf(run);
  }
});
