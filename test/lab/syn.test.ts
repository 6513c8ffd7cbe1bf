import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { busiestSecond, type Packet, type Run, Wire } from './wire.ts';

interface Result {
  status: string;
  summary: { live_hosts: number; open_ports: number; coverage: Record<string, number> };
  warnings: { code: string; message: string }[];
  error: { code: string; message: string } | null;
  results: {
    host: string;
    ports: { port: number; reason: string }[];
    port_counts: Record<'open' | 'closed' | 'filtered' | 'not_tried', number>;
  }[];
}

let wire: Wire;
beforeAll(async () => {
  wire = new Wire(`${inject('fleetPrefix')}y`);
  await wire.listen([8001, 8002]);
});
afterAll(() => wire?.down());

const syn = ['--dag', 'port-scan', '--no-discover', '--scan-type', 'syn'];

function resultOf(run: Run): Result {
  if (run.stdout.trim() === '') throw new Error(`no result: exit ${run.exitCode}\n${run.stderr}`);
  return JSON.parse(run.stdout) as Result;
}

/** SYNs by endpoint. */
function triesOf(packets: Packet[]): Map<string, number> {
  const tries = new Map<string, number>();
  for (const { host, port, kind } of packets)
    if (kind === 'syn') tries.set(`${host} ${port}`, (tries.get(`${host} ${port}`) ?? 0) + 1);
  return tries;
}

describe('a half-open sweep', () => {
  test('probes every planned endpoint once over a gateway, in both families, and nothing else', async () => {
    const run = await wire.scan(
      ['10.82.1.0/26', 'fd82::/124', ...syn, '--ports', '8001-8020', '--rate', '5000'],
      {
        config: 'scanner: { scope: { deny: [10.82.1.7, "fd82::8/126"] } }',
      },
    );
    const result = resultOf(run);
    const tries = triesOf(run.packets);
    // 62 hosts without one, and 16 addresses without 4.
    expect(tries.size).toBe((61 + 12) * 20);
    expect(new Set(tries.values())).toEqual(new Set([1]));
    expect(result.warnings.map(({ code }) => code)).toEqual(['out_of_scope']);
    expect(result.summary).toMatchObject({ live_hosts: 73, open_ports: 146 });
    for (const { port_counts, ports } of result.results) {
      expect(port_counts).toEqual({ open: 2, closed: 18, filtered: 0, not_tried: 0 });
      expect(ports.map(({ reason }) => reason)).toEqual(['syn-ack', 'syn-ack']);
    }
  });

  test('silent hosts get one packet a try, and no second more than rate + 5 %', async () => {
    const pace = ['--retries', '1', '--rate', '500'];
    const run = await wire.scan(['10.83.1.0/26', '10.82.1.1', ...syn, '--ports', '8001-8020', ...pace]);
    const tries = triesOf(run.packets.filter(({ host }) => host.startsWith('10.83.')));
    expect(tries.size).toBe(62 * 20);
    expect(new Set(tries.values())).toEqual(new Set([2]));
    const probes = run.packets.filter(({ kind }) => kind === 'syn');
    expect(busiestSecond(probes)).toBeLessThanOrEqual(525);
    // Hosts that are none have no row, and are counted all the same.
    expect(resultOf(run).summary.coverage).toEqual({
      planned: 63 * 20,
      open: 2,
      closed: 18,
      filtered: 62 * 20,
      not_tried: 0,
    });
    expect(resultOf(run).results.map(({ host, port_counts }) => [host, port_counts.open])).toEqual([
      ['10.82.1.1', 2],
    ]);
  });

  test('reaches hosts on the link by their own MAC, its own addresses through loopback', async () => {
    const targets = ['10.81.0.0/29', 'fd81::2', '127.0.0.1'];
    const result = resultOf(await wire.scan([...targets, ...syn, '--ports', '8001-8010', '--rate', '2000']));
    const counts = result.results.map(({ host, port_counts }) => [
      host,
      port_counts.open,
      port_counts.closed,
    ]);
    expect(counts).toEqual([
      ['10.81.0.1', 0, 10],
      ['10.81.0.2', 2, 8],
      ['127.0.0.1', 0, 10],
      ['fd81::2', 2, 8],
    ]);
  });

  test('tells a missing route from silence', async () => {
    const result = resultOf(await wire.scan(['10.99.0.1', '10.82.1.1', ...syn, '--ports', '8001-8004']));
    expect(result.warnings.map(({ message }) => message).join()).toContain('no route to 10.99.0.1');
    expect(result.results.map(({ host }) => host)).toEqual(['10.82.1.1']);
    expect(result.summary.coverage).toEqual({ planned: 8, open: 2, closed: 2, filtered: 0, not_tried: 4 });
  });

  test('ends within seconds when the link goes down, and keeps what it found', async () => {
    const run = await wire.scan(['10.82.1.0/24', ...syn, '--ports', '8001-8100', '--rate', '5000'], {
      during: async () => {
        await new Promise((resolve) => setTimeout(resolve, 2500));
        wire.setLink('down');
      },
    });
    wire.setLink('up');
    const result = resultOf(run);
    expect(result.warnings.map(({ message }) => message).join()).toMatch(/interface|route|link|down/);
    const total = result.results.reduce(
      (sum, { port_counts: all }) => sum + all.open + all.closed + all.filtered + all.not_tried,
      0,
    );
    expect(total).toBe(result.results.length * 100);
  });
});

describe('without CAP_NET_RAW', () => {
  test('raw packets that were asked for are refused, and what to do is said', async () => {
    const run = await wire.scan(['10.82.1.1', ...syn, '--ports', '8001-8004'], { caps: false });
    expect(run.exitCode).not.toBe(0);
    expect(run.stderr).toContain('permission');
    expect(run.stdout + run.stderr).toMatch(/CAP_NET_RAW is missing.*portolan doctor/s);
    expect(run.packets).toEqual([]);
  });
});

test('a sweep that was paused or canceled at a random moment sends nothing at all a second later', async () => {
  const submission = {
    targets: ['10.82.9.0/26', '10.83.9.0/26'],
    dag: 'port-scan',
    ports: '8001-8400',
    rate: 4000,
    options: { scan_type: 'syn', discover: false, retries: 1 },
  };
  const script = fileURLToPath(new URL('stop-at-random.ts', import.meta.url));
  const run = await wire.run(script, ['3', JSON.stringify(submission)]);
  expect([run.exitCode, run.stderr]).toEqual([0, '']);
  const silences = run.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { verb: string; from: number; to: number });
  expect(silences).toHaveLength(6);
  expect(run.packets.length).toBeGreaterThan(10_000);
  for (const { verb, from, to } of silences) {
    const late = run.packets.filter(({ time }) => time > from + 1 && time < to);
    expect([verb, late]).toEqual([verb, []]);
  }
}, 120_000);

test.each([5000, 'auto'])(
  'goes on after kill -9 at the rate %s: no endpoint is probed again but those of the last second',
  async (rate) => {
    const submission = {
      targets: ['10.82.16.0/22'],
      dag: 'port-scan',
      ports: '8001-8040',
      rate,
      options: { scan_type: 'syn', discover: false, retries: 1 },
    };
    const script = fileURLToPath(new URL('kill-in-the-middle.ts', import.meta.url));
    const run = await wire.run(script, [JSON.stringify(submission)]);
    expect([run.exitCode, run.stderr]).toEqual([0, '']);
    const { killedAt, counts, coverage } = JSON.parse(run.stdout) as {
      killedAt: number[];
      counts: Record<string, number>;
      coverage: Record<string, number>;
    };
    const tries = triesOf(run.packets);
    expect(tries.size).toBe(1022 * 40);
    expect(counts).toEqual({ hosts: 1022, open: 2 * 1022, closed: 38 * 1022, filtered: 0, not_tried: 0 });
    expect(coverage).toEqual({
      planned: 40 * 1022,
      open: 2 * 1022,
      closed: 38 * 1022,
      filtered: 0,
      not_tried: 0,
    });
    const again = repeated(run.packets);
    const old = again.filter(
      ({ first }) => !killedAt.some((killed) => first > killed - 1.1 && first < killed + 0.1),
    );
    expect(old.slice(0, 3)).toEqual([]);
  },
  120_000,
);

/** Endpoints that were probed again, with the time of their first probe. */
function repeated(packets: Packet[]): { first: number }[] {
  const firsts = new Map<string, number>();
  return packets.flatMap(({ host, port, kind, time }) => {
    if (kind !== 'syn') return [];
    const first = firsts.get(`${host} ${port}`);
    if (first !== undefined) return [{ first, host, port }];
    firsts.set(`${host} ${port}`, time);
    return [];
  });
}
