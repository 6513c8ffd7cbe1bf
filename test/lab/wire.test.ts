import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { busiestSecond, type Packet, type Run, Wire } from './wire.ts';

/** The part of the JSON result that is checked here. */
interface Result {
  status: string;
  partial: boolean;
  summary: { live_hosts: number; open_ports: number };
  warnings: { code: string; message: string }[];
  results: { host: string; ports: { port: number; state: string }[]; port_counts?: Counts }[];
}

type Counts = Record<'open' | 'closed' | 'filtered' | 'not_tried', number>;

let wire: Wire;

beforeAll(async () => {
  wire = new Wire(inject('fleetPrefix'));
  await wire.listen([515, 631, 8001, 9100, 9101]);
});
afterAll(() => wire?.down());

const sweep = ['--dag', 'port-scan', '--no-discover', '--scan-type', 'connect'];

describe('what goes over the wire', () => {
  test('every planned pair once, nothing else; excluded and denied addresses get nothing', async () => {
    const targets = ['10.82.1.0/24', 'fd82::/124', '::ffff:10.82.1.20'];
    const run = await wire.scan(
      [
        ...targets,
        ...sweep,
        '--ports',
        '8001-8020',
        '--exclude',
        '10.82.1.5,::ffff:10.82.1.6',
        '--rate',
        '5000',
      ],
      { config: 'scanner: { scope: { deny: [10.82.1.7, "fd82::8/126"] } }' },
    );
    const result = resultOf(run);
    const tries = triesOf(run.packets);
    const hosts = new Set(run.packets.map(({ host }) => host));
    for (const host of ['10.82.1.5', '10.82.1.6', '10.82.1.7', 'fd82::8', 'fd82::b'])
      expect(hosts).not.toContain(host);
    // 254 hosts without 3, and 16 addresses without 4
    expect(hosts.size).toBe(251 + 12);
    expect(tries.size).toBe((251 + 12) * 20);
    expect(new Set(tries.values())).toEqual(new Set([1]));
    expect(result.summary).toMatchObject({ live_hosts: 263, open_ports: 263 });
  });

  test('silent hosts get one packet a try, and no second more than rate + 5 %', async () => {
    const pace = ['--retries', '1', '--rate', '200', '--concurrency', '1000', '--timeout', '3s'];
    const run = await wire.scan(['10.83.1.0/26', ...sweep, '--ports', '8001-8006', ...pace]);
    expect(resultOf(run).status).toBe('completed');
    const tries = triesOf(run.packets);
    expect(tries.size).toBe(62 * 6);
    expect(new Set(tries.values())).toEqual(new Set([2]));
    expect(busiestSecond(run.packets)).toBeLessThanOrEqual(210);
    expect(run.packets.length / spanOf(run.packets)).toBeGreaterThan(180);
  });

  test('the rate holds over all modules', async () => {
    const run = await wire.scan(['10.83.2.0/27', '--only-discover', '--rate', '200']);
    expect(resultOf(run).summary.live_hosts).toBe(0);
    const requests = run.packets.filter(({ kind }) => kind !== 'other');
    expect(busiestSecond(requests)).toBeLessThanOrEqual(210);
    expect(requests.filter(({ kind }) => kind === 'echo')).toHaveLength(30 * 3);
    expect(new Set(triesOf(requests).values())).toEqual(new Set([3]));
  });

  test('printers are found and hear nothing', async () => {
    const run = await wire.scan(['10.82.2.1', '--profile', 'standard', '--ports', '515,631,9100,9101']);
    expect(resultOf(run).results[0]?.ports.map(({ port }) => port)).toEqual([515, 631, 9100, 9101]);
    expect(run.packets.filter(({ kind, length }) => kind !== 'echo' && length > 0)).toEqual([]);
  });

  test('less than the packets of one second follow a cancel, and the results are kept', async () => {
    let canceledAt = Infinity;
    const run = await wire.scan(
      ['10.82.3.0/24', '10.83.3.0/24', '--profile', 'standard', '--ports', '8001-8100', '--rate', '1000'],
      {
        during: async (scan) => {
          await wire.sent(2000);
          canceledAt = Date.now() / 1000;
          scan.kill('SIGINT');
        },
      },
    );
    const late = run.packets.filter(({ time }) => time > canceledAt).length;
    expect(run.packets.length).toBeGreaterThan(1000);
    expect(late).toBeLessThan(1000);
    expect(run.exitCode).not.toBe(0);
    expect(resultOf(run)).toMatchObject({ status: 'failed', partial: true });
    expect(resultOf(run).summary.live_hosts).toBeGreaterThan(100);
  });

  test('without the right to ping the scan says so and goes on by TCP', async () => {
    const run = await wire.scan(['10.82.4.0/29', '--dag', 'port-scan', '--ports', '8001'], {
      caps: false,
    });
    const result = resultOf(run);
    expect(result.warnings.map(({ code }) => code).toSorted()).toEqual(['icmp_unavailable', 'syn_fallback']);
    expect(result.summary).toMatchObject({ live_hosts: 6, open_ports: 6 });
    expect(run.packets.filter(({ kind }) => kind === 'echo')).toEqual([]);
  });

  test('while the link is down no port counts as closed, and the scan says so', async () => {
    const run = await wire.scan(['10.82.5.0/27', ...sweep, '--ports', '8001-8100', '--rate', '800'], {
      during: async () => {
        await wire.sent(1000);
        wire.setLink('down');
        await sleep(1000);
        wire.setLink('up');
      },
    });
    const result = resultOf(run);
    const counts = result.results.map((host) => host.port_counts as Counts);
    const sum = (state: keyof Counts) => counts.reduce((all, each) => all + each[state], 0);
    expect(result.warnings.map(({ code }) => code)).toEqual(['packets_not_sent']);
    expect(sum('not_tried')).toBeGreaterThan(100);
    expect(sum('open') + sum('closed')).toBeLessThanOrEqual(triesOf(run.packets).size);
    expect(sum('open') + sum('closed') + sum('filtered') + sum('not_tried')).toBe(30 * 100);
  });
});

function resultOf(run: Run): Result {
  try {
    return JSON.parse(run.stdout) as Result;
  } catch {
    throw new Error(
      `no JSON (exit code ${run.exitCode}): ${run.stdout.slice(0, 200)}\n${run.stderr.slice(-2000)}`,
    );
  }
}

/** SYNs by address and port. */
function triesOf(packets: readonly Packet[]): Map<string, number> {
  const tries = new Map<string, number>();
  for (const { kind, host, port } of packets) {
    if (kind === 'syn') tries.set(`${host} ${port}`, (tries.get(`${host} ${port}`) ?? 0) + 1);
  }
  return tries;
}

function spanOf(packets: readonly Packet[]): number {
  return (packets.at(-1)?.time ?? 0) - (packets[0]?.time ?? 0);
}
