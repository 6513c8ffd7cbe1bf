import { execFile } from 'node:child_process';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { compileScope } from '../../domain/targets/scope.ts';
import { parseTargets } from '../../domain/targets/target.ts';
import type { ScanGate } from '../gate/gate.ts';
import { PauseGate } from '../gate/pause-gate.ts';
import { PacketRateLimiter } from '../gate/rate.ts';
import { createGate, type GateOptions } from '../gate/scoped-gate.ts';
import type { ConnectJob } from './sweep-job.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function listen(host: string): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => undefined));
  ends.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return (server.address() as AddressInfo).port;
}

function gateTo(targets: string[], more: Partial<GateOptions> = {}): ScanGate {
  const gate = createGate({
    addresses: parseTargets(targets).addresses,
    scope: compileScope({ allow: ['127.0.0.0/8', '::1/128'], deny: [] }),
    rate: new PacketRateLimiter({ rate: 100_000 }),
    ...more,
  });
  ends.push(() => gate.close());
  return gate;
}

function job(hosts: string[], ports: number[], more: Partial<ConnectJob> = {}): ConnectJob {
  return {
    hosts: hosts.map((ip) => ({ ip })),
    ports: Uint16Array.from(ports),
    retries: 1,
    timeoutMs: 1000,
    concurrency: 100,
    signal: new AbortController().signal,
    onOpen: () => undefined,
    onState: () => undefined,
    restored: null,
    ...more,
  };
}

const fixture = fileURLToPath(new URL('../fixtures/sweep-connect.ts', import.meta.url));
const wellKnown = Array.from({ length: 1000 }, (_, at) => at + 1);

describe.runIf(process.platform === 'linux')('sweepConnect', () => {
  it('sweeps both families in one job', async () => {
    const [four, six] = [await listen('127.70.0.1'), await listen('::1')];
    const gate = gateTo(['127.70.0.1', '::1']);
    const open: string[] = [];
    const outcomes = await gate.sweepConnect(
      job(['::1', '127.70.0.1'], [four, six, 1], { onOpen: (host, port) => open.push(`${host} ${port}`) }),
    );
    expect(open.toSorted()).toEqual([`127.70.0.1 ${four}`, `::1 ${six}`]);
    const rest = { open: 1, closed: 2, filtered: 0, not_tried: 0 };
    expect(outcomes).toHaveLength(2);
    for (const each of outcomes) expect(each).toMatchObject(rest);
  });

  it('sends nothing to what is out of scope, nor to what leaves it meanwhile', async () => {
    const gate = gateTo(['127.70.1.0/24'], { rate: new PacketRateLimiter({ rate: 10_000 }) });
    const running = gate.sweepConnect(job(['127.70.1.1', '127.70.1.2', '127.70.9.9'], wellKnown));
    await new Promise((resolve) => setTimeout(resolve, 50));
    gate.narrow(() => parseTargets(['127.70.1.1']).addresses);
    const outcomes = new Map((await running).map((outcome) => [outcome.host, outcome]));
    expect(outcomes.get('127.70.1.1')).toMatchObject({ closed: 1000, not_tried: 0 });
    expect(outcomes.get('127.70.9.9')).toMatchObject({ closed: 0, not_tried: 1000 });
    const { closed = 0, not_tried = 0 } = outcomes.get('127.70.1.2') ?? {};
    expect(closed).toBeLessThan(999);
    expect(closed + not_tried).toBe(1000);
    expect(gate.packetsSent).toBe(1000 + closed);
  });

  it('attempts nothing while the scan is held, and goes on after', async () => {
    const hold = new PauseGate();
    const gate = gateTo(['127.70.2.1'], { hold, rate: new PacketRateLimiter({ rate: 2000 }) });
    expect(await gate.connectObstacle(new AbortController().signal)).toBeNull();
    const running = gate.sweepConnect(job(['127.70.2.1'], wellKnown));
    await new Promise((resolve) => setTimeout(resolve, 150));
    hold.hold();
    await new Promise((resolve) => setTimeout(resolve, 150));
    const sent = gate.packetsSent;
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(900);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(gate.packetsSent).toBe(sent);
    hold.release();
    expect(await running).toMatchObject([{ closed: 1000, not_tried: 0 }]);
    expect(gate.packetsSent).toBe(1000);
  });

  it.runIf(process.getuid?.() === 0)('counts what has no way out as not tried, with the reason', async () => {
    // In a network namespace of its own every link is down, the loopback too.
    const { stdout } = await promisify(execFile)(
      'unshare',
      ['--net', process.execPath, fixture, '127.70.4.1', '3'],
      { timeout: 60_000 },
    );
    expect(JSON.parse(stdout)).toMatchObject({
      open: [],
      outcomes: [{ open: 0, closed: 0, filtered: 0, not_tried: 3 }],
      unsent: [['local error ENETUNREACH', 3]],
      sent: 0,
    });
  });

  it('finds everything with few file handles', async () => {
    const command = 'ulimit -n 64 && exec "$0" "$1" 127.70.3.1 1900';
    const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, fixture], {
      timeout: 60_000,
    });
    expect(JSON.parse(stdout)).toMatchObject({ obstacle: null, unsent: [] });
    const { open, outcomes } = JSON.parse(stdout) as { open: number[]; outcomes: unknown[] };
    const closed = 1900 - open.length;
    expect(outcomes).toMatchObject([{ open: open.length, closed, filtered: 0, not_tried: 0 }]);
  });
});
