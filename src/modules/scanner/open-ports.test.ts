import { describe, expect, it } from 'vitest';
import type { Port, PortCounts } from '../../domain/host.ts';
import type { PortSign } from './host-evidence.ts';
import { OpenPorts, type PlannedPort } from './open-ports.ts';

const port = (number: number, more: Partial<Port> = {}): Port => ({
  host: '192.0.2.1',
  port: number,
  protocol: 'tcp',
  state: 'open',
  reason: 'syn-ack',
  ...more,
});
const ports = (count: number) => Array.from({ length: count }, (_, at) => port(20_001 + at));
const swept = (open: number, more: Partial<PortCounts> = {}): PortCounts => ({
  host: '192.0.2.1',
  protocol: 'tcp',
  open,
  closed: 0,
  filtered: 0,
  not_tried: 0,
  all_ports_open: false,
  ...more,
});

const silence: PortSign = { response: '', service: null, usual: null, short: false };
const ssh: PortSign = { ...silence, response: 'SSH-2.0-x', service: 'ssh' };

async function* streamOf<T>(items: readonly T[], end?: Error): AsyncGenerator<T> {
  yield* items;
  if (end) throw end;
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

interface Run {
  probed: number[];
  listed: number[];
  /** Most probes at a time. */
  most: number;
  verdicts: { host: string; isTarpit: boolean; silent: number; left: number }[];
}

/** Probes planned ports, each until the event loop has turned once. */
async function run(
  open: AsyncIterable<Port>,
  counts: readonly PortCounts[] | null,
  sign: (port: PlannedPort) => PortSign | null,
  signal = new AbortController().signal,
): Promise<Run> {
  const found: Run = { probed: [], listed: [], most: 0, verdicts: [] };
  const planned = new OpenPorts({
    ports: open,
    counts: counts && streamOf(counts),
    isUntouchable: (number) => number === 9100,
    onVerdict: async (host, { isTarpit, silent, left }) =>
      void found.verdicts.push({ host, isTarpit, silent: silent.length, left }),
    signal,
  });
  const running = new Set<Promise<void>>();
  for await (const each of planned) {
    if (each.skipped) found.listed.push(each.port);
    else {
      found.probed.push(each.port);
      const ended = turn().then(() => {
        running.delete(ended);
        each.end?.(sign(each));
      });
      running.add(ended);
      found.most = Math.max(found.most, running.size);
    }
  }
  await Promise.all(running);
  await planned.finish();
  return found;
}

describe('open ports of a host', () => {
  it.each([70, 500])('%i that all speak are all probed', async (count) => {
    const all = ports(count);
    const { probed, listed, verdicts } = await run(streamOf(all), [swept(count)], () => ssh);
    expect(probed).toEqual(all.map((each) => each.port));
    expect(listed).toEqual([]);
    expect(verdicts).toEqual([{ host: '192.0.2.1', isTarpit: false, silent: 0, left: 0 }]);
  });

  it('that are all silent get 64 probes, and the others are listed', async () => {
    const { probed, listed, most, verdicts } = await run(
      streamOf(ports(700)),
      [swept(700, { closed: 300 })],
      () => silence,
    );
    expect([probed.length, listed.length, most]).toEqual([64, 636, 64]);
    expect(new Set([...probed, ...listed]).size).toBe(700);
    expect(verdicts).toEqual([{ host: '192.0.2.1', isTarpit: true, silent: 64, left: 636 }]);
  });

  it('are probed on while one of two speaks', async () => {
    const half = ({ port: number }: PlannedPort) => (number % 2 === 0 ? ssh : silence);
    const { probed, verdicts } = await run(streamOf(ports(600)), [swept(600)], half);
    expect(probed).toHaveLength(600);
    expect(verdicts).toMatchObject([{ isTarpit: false, silent: 300, left: 0 }]);
  });

  it('are all planned at once where all send something at once', async () => {
    const planned = new OpenPorts({
      ports: streamOf(ports(300)),
      counts: null,
      isUntouchable: () => false,
      onVerdict: async () => undefined,
      signal: new AbortController().signal,
    });
    let count = 0;
    for await (const each of planned) {
      count += 1;
      each.first?.(ssh);
    }
    expect(count).toBe(300);
  });

  it('need no counts of a sweep', async () => {
    const { probed, listed, verdicts } = await run(streamOf(ports(100)), null, () => silence);
    expect([probed.length, listed.length]).toEqual([64, 36]);
    expect(verdicts).toMatchObject([{ isTarpit: true }]);
  });

  it('get nothing where they may print, and no more than a response over UDP', async () => {
    const udp = { protocol: 'udp' as const };
    const all = [port(9100), port(53, udp), port(67, { ...udp, state: 'open|filtered' }), port(9100, udp)];
    const { probed, listed, verdicts } = await run(streamOf(all), [swept(1)], () => null);
    expect([probed, listed]).toEqual([[53], [9100]]);
    expect(verdicts).toMatchObject([{ isTarpit: false, silent: 0 }]);
  });

  it('end with the error of their source, and at a cancel', async () => {
    const failed = run(streamOf(ports(2), new Error('sweep failed')), null, () => ssh);
    await expect(failed).rejects.toThrow('sweep failed');
    const cancel = new AbortController();
    const endless = async function* () {
      yield port(1);
      cancel.abort();
      await new Promise<void>(() => undefined);
    };
    expect((await run(endless(), null, () => ssh, cancel.signal)).verdicts).toEqual([]);
  });
});

it('each host has a verdict of its own, as soon as its ports are done', async () => {
  const other = ports(20).map((each) => ({ ...each, host: '192.0.2.2' }));
  const counts = [swept(20, { host: '192.0.2.2' }), swept(20)];
  const { verdicts } = await run(streamOf([...ports(20), ...other]), counts, ({ host }) =>
    host === '192.0.2.2' ? silence : ssh,
  );
  expect(verdicts).toEqual([
    { host: '192.0.2.1', isTarpit: false, silent: 0, left: 0 },
    { host: '192.0.2.2', isTarpit: true, silent: 20, left: 0 },
  ]);
});
