import { expect, it } from 'vitest';
import type { PortCounts, PortCoverage } from '../../domain/host.ts';
import { parseTargets } from '../../domain/targets/target.ts';
import type { DataContext } from '../../engine/module.ts';
import type { SweepJob, SweepOutcome } from '../../net/tcp/sweep-job.ts';
import { HostBatches } from './host-batches.ts';
import { SlicedScan, type SlicedScanInput, type SlicedScanState } from './sliced-scan.ts';

const addresses = parseTargets(['10.9.0.0-10.9.0.255']).addresses;
const ports = Array.from({ length: 12_288 }, (_, at) => at + 1);

/**
 * One run over all addresses; `sweep` receives the hosts and the first port of each job.
 * @param dropping hosts of each job that ignore the first two ports until they are probed slowly
 */
function runOf(
  before: SlicedScanState | null,
  coverage: PortCoverage,
  sweep: (
    hosts: string[],
    firstPort: number,
    hostRate: number | undefined,
    open: SweepJob['onOpen'],
  ) => Promise<Partial<SweepOutcome> | void>,
  dropping = 0,
  planned = ports,
) {
  const silent = () => undefined;
  const counts: PortCounts[] = [];
  const cover = (more: PortCoverage) => {
    for (const name of Object.keys(coverage) as (keyof PortCoverage)[]) coverage[name] += more[name];
  };
  const ctx = {
    signal: new AbortController().signal,
    options: { retries: 1, timeout: 1000 },
    restored: before,
    recordedCounts: () => new Map(),
    recount: (all: PortCoverage) => Object.assign(coverage, all),
    cover,
    progress: silent,
    warn: silent,
  } as unknown as SlicedScanInput['ctx'];
  const data = {
    append: async (key: string, ...items: PortCounts[]) =>
      void (key === 'port_counts' && counts.push(...items)),
  } as unknown as DataContext;
  const scan = new SlicedScan({
    ctx,
    data,
    ports: planned,
    hosts: HostBatches.of(addresses, before?.walk ?? null, planned.length),
    knownUp: false,
    before,
    sweep: async (job: SweepJob, _side: number, hostRate?: number): Promise<SweepOutcome[]> => {
      const { hosts, ports: chosen } = job;
      const { length: count, 0: first = 0 } = chosen;
      const opened = new Map<string, number>();
      const more = await sweep(
        hosts.map(({ ip }) => ip),
        first,
        hostRate,
        (host, port, reason) => {
          opened.set(host, (opened.get(host) ?? 0) + 1);
          job.onOpen(host, port, reason);
        },
      );
      const counts = { open: 0, closed: 0, filtered: count, not_tried: 0, problem: null };
      if (hostRate !== undefined)
        return hosts.map(({ ip }) => ({ host: ip, ...counts, open: 2, filtered: 0 }));
      const omitted = [...chosen.subarray(0, 2)];
      return hosts.map(({ ip }, at) => {
        const open = opened.get(ip) ?? 0;
        const found = { host: ip, ...counts, open, filtered: count - open, ...more };
        return at < dropping ? { ...found, silent: omitted } : found;
      });
    },
  });
  return { scan, ended: scan.run(), counts };
}

it('sweeps and covers silent hosts once, although the scan is killed twice', async () => {
  const coverage = { open: 0, closed: 0, filtered: 0, not_tried: 0 };
  const swept: string[] = [];
  const note = (hosts: string[], first: number) => swept.push(...hosts.map((host) => `${host} ${first}`));
  const never = new Promise<void>(() => undefined);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const saved = (scan: SlicedScan) => JSON.parse(JSON.stringify(scan.state())) as SlicedScanState;

  // Four batches of hosts with four slices of ports each, the likely ones first: more jobs than run side by side.
  const first = runOf(null, coverage, () => never);
  await turn();
  const afterFirst = saved(first.scan);
  expect(afterFirst.batches.length).toBeGreaterThan(1);

  // The resumed sweep is done with a batch before the walk gives its hosts again; then all stands still.
  const done = afterFirst.batches[0]?.hosts[0]?.ip ?? '';
  const second = runOf(afterFirst, coverage, async (hosts, port) => {
    if (!hosts.includes(done)) return await never;
    note(hosts, port);
  });
  for (let turns = 0; turns < 20; turns++) await turn();
  const afterSecond = saved(second.scan);
  expect(coverage.filtered).toBe(64 * ports.length);

  await runOf(afterSecond, coverage, async (hosts, port) => void note(hosts, port)).ended;
  expect(new Set(swept).size).toBe(256 * 4);
  expect(swept).toHaveLength(256 * 4);
  expect(coverage).toEqual({ open: 0, closed: 0, filtered: 256 * ports.length, not_tried: 0 });
});

it('sweeps the likely ports of all hosts before the other ports of any', async () => {
  const coverage = { open: 0, closed: 0, filtered: 0, not_tried: 0 };
  const jobs: { hosts: number; first: number }[] = [];
  const sweep = async (hosts: string[], first: number) => void jobs.push({ hosts: hosts.length, first });
  await runOf(null, coverage, sweep).ended;
  expect(jobs.slice(0, 4)).toEqual(Array(4).fill({ hosts: 64, first: 443 }));
  expect(jobs.slice(4).every(({ first }) => first !== 443)).toBe(true);
  expect(coverage).toEqual({ open: 0, closed: 0, filtered: 256 * ports.length, not_tried: 0 });
});

it('continues a checkpoint of an earlier version with its slices', async () => {
  const coverage = { open: 0, closed: 0, filtered: 0, not_tried: 0 };
  const hosts = Array.from({ length: 64 }, (_, at) => ({ ip: `10.9.0.${at}` }));
  const counts = hosts.map(() => [0, 0, 4096, 0]);
  const slices = [{ slice: 2, parts: [] }];
  const before: SlicedScanState = { walk: null, batches: [{ hosts, counts, slices }] };
  const firsts: number[] = [];
  const { scan, ended } = runOf(before, coverage, async (_hosts, first) => void firsts.push(first));
  expect(scan.state().leading).toEqual([]);
  await ended;
  expect(firsts[0]).toBe(8193);
});

it.each([
  [1, 1],
  [62, 62],
  // More hosts at a time: the way to them drops probes, whatever their number.
  [65, 0],
])('of %i hosts of a job that drop probes, retries %i slowly', async (dropping, retried) => {
  const coverage = { open: 0, closed: 0, filtered: 0, not_tried: 0 };
  const rates: number[] = [];
  const few = ports.slice(0, 10);
  const note = async (_hosts: string[], _port: number, hostRate?: number) => {
    if (hostRate !== undefined) rates.push(hostRate);
  };
  await runOf(null, coverage, note, dropping, few).ended;
  expect(rates).toEqual(Array(retried).fill(20));
  expect(coverage).toEqual({ open: 2 * retried, closed: 0, filtered: 2560 - 2 * retried, not_tried: 0 });
});

it('marks a host that accepts ports with window 0, also those counted before an interruption', async () => {
  const coverage = { open: 0, closed: 0, filtered: 0, not_tried: 0 };
  const few = ports.slice(0, 20);
  const accept = (count: number, end: Promise<void>) =>
    async function sweep(hosts: string[], _port: number, _rate: unknown, open: SweepJob['onOpen']) {
      if (hosts.includes('10.9.0.7'))
        for (const port of few.slice(0, count)) open('10.9.0.7', port, 'syn-ack-zero-window');
      if (hosts.includes('10.9.0.8')) for (const port of few.slice(0, count)) open('10.9.0.8', port);
      await end;
    };
  const first = runOf(null, coverage, accept(10, new Promise<void>(() => undefined)), 0, few);
  await new Promise((resolve) => setImmediate(resolve));
  const saved = JSON.parse(JSON.stringify(first.scan.state())) as SlicedScanState;
  const second = runOf(saved, coverage, accept(6, Promise.resolve()), 0, few);
  await second.ended;
  const marks = second.counts.map(({ host, all_ports_open }) => [host, all_ports_open]);
  expect(Object.fromEntries(marks)).toEqual({ '10.9.0.7': true, '10.9.0.8': false });
});

it.each([
  [70, 230, 70, true],
  [70, 230, 60, false],
  [200, 20, 70, false],
])(
  '%i open and %i closed ports, the last %i of them open, make a host a tarpit: %s',
  async (open, closed, openRun, is) => {
    const coverage = { open: 0, closed: 0, filtered: 0, not_tried: 0 };
    const outcome = { open, closed, openRun, filtered: 320 - open - closed };
    const { counts, ended } = runOf(null, coverage, async () => outcome, 0, ports.slice(0, 320));
    await ended;
    expect(new Set(counts.map(({ all_ports_open }) => all_ports_open))).toEqual(new Set([is]));
  },
);
