import type { Socket } from 'node:net';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { closeServers, listen, loopbackGate, tryModule } from '../../../test/module-trial.ts';
import { inVirtualTime } from '../../../test/virtual-time.ts';
import { compileScope } from '../../domain/targets/scope.ts';
import { parseTargets } from '../../domain/targets/target.ts';
import type { Banner } from '../../domain/text/banner.ts';
import type { NetworkGate } from '../../net/gate/gate.ts';
import { PacketRateLimiter } from '../../net/gate/rate.ts';
import { createGate } from '../../net/gate/scoped-gate.ts';
import banner_grabber from './banner_grabber.ts';
import { PortClock } from './port-clock.ts';
import { probePort } from './port-session.ts';
import { SlowHosts } from './slow-hosts.ts';

afterAll(closeServers);

const timeoutMs = 800;

/** Later than a port that says nothing is waited for, sooner than with twice the time. */
const lateMs = 600;

/** In time, and slow. */
const slowMs = 330;
/** Too late also where a busy machine made the waits longer. */
const muchTooLateMs = 60_000;

/** All servers are in this process: no clock has to wait for them. */
const probe = async (...input: Parameters<typeof probeNow>) =>
  (await inVirtualTime(() => probeNow(...input))).result;

async function probeNow(port: number, slowHosts: SlowHosts, stretch = 1, net?: NetworkGate) {
  const outcome = await probePort(
    { host: '127.0.0.1', port, protocol: 'tcp' },
    {
      net: net ?? loopbackGate(['127.0.0.1']),
      signal: new AbortController().signal,
      timeoutMs,
      maxBytes: 65_536,
      ask: true,
      tls: false,
      intrusive: false,
      thorough: false,
      names: new Map(),
      slowHosts,
      stretch,
      onConnected: () => undefined,
    },
  );
  if ('failure' in outcome) throw new Error(outcome.failure.reason);
  return outcome;
}

/** A host that is known to be slow. */
function slow(): SlowHosts {
  const hosts = new SlowHosts();
  hosts.note('127.0.0.1', timeoutMs / 4, timeoutMs);
  return hosts;
}

/** Responds to any request so much later. */
const respondAfter = (ms: number) => (socket: Socket) => {
  socket.once('data', () =>
    setTimeout(
      () => socket.end('HTTP/1.1 404 No\r\nServer: trial/1.0\r\nContent-Length: 0\r\n\r\n'),
      ms,
    ).unref(),
  );
  socket.on('error', () => undefined);
};

describe('a port of a slow host', () => {
  it('that responds after the timeout is short of time', async () => {
    const port = await listen(respondAfter(muchTooLateMs));
    expect(await probe(port, slow())).toMatchObject({ shortage: 'timeout', silent: true });
  });

  it('is identified with longer waits, and short of nothing', async () => {
    const port = await listen(respondAfter(lateMs));
    const { shortage, banners } = await probe(port, new SlowHosts(), 3);
    expect(banners.map(({ probe: name }) => name)).toContain('http');
    expect(banners[0]?.banner).toMatch(/^HTTP\/1\.1 404/);
    expect(shortage).toBeNull();
  });

  it('whose further response does not come is short of time', async () => {
    const port = await listen((socket) =>
      socket.on('data', (bytes) => {
        if (String(bytes).startsWith('GET / '))
          socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1\r\n\r\nx');
      }),
    );
    expect(await probe(port, slow())).toMatchObject({ shortage: 'timeout', silent: false });
  });

  it('is noticed by its own responses', async () => {
    const hosts = new SlowHosts();
    const port = await listen(respondAfter(slowMs));
    await probe(port, hosts);
    expect(hosts.has('127.0.0.1')).toBe(true);
  });
});

describe('the module', () => {
  async function grab(ports: number[], retries: number): Promise<Banner[]> {
    const open = ports.map((port) => ({
      host: '127.0.0.1',
      port,
      protocol: 'tcp',
      state: 'open',
      reason: 'x',
    }));
    const { result } = await inVirtualTime(() =>
      tryModule(banner_grabber, {
        config: { timeout: `${timeoutMs}ms`, concurrency: 1, retries, tls: false },
        inputs: { open_ports: open },
      }),
    );
    return (result.published.get('banners') ?? []) as Banner[];
  }
  const of = (banners: Banner[], port: number) => banners.filter((banner) => banner.port === port);

  it('probes again with more time what a slow host did not respond to in time', async () => {
    const quick = await listen(respondAfter(slowMs));
    const late = await listen(respondAfter(lateMs));
    const banners = await grab([quick, late], 1);
    expect(of(banners, late)[0]?.banner).toMatch(/trial\/1\.0/);
    expect(of(banners, late)[0]).not.toHaveProperty('unidentified_reason');
  });

  it('marks what is not probed again, or in vain', async () => {
    const quick = await listen(respondAfter(slowMs));
    const never = await listen(() => undefined);
    expect(of(await grab([quick, never], 0), never)).toMatchObject([{ unidentified_reason: 'timeout' }]);
    expect(of(await grab([quick, never], 1), never)).toMatchObject([{ unidentified_reason: 'timeout' }]);
  });
});

it('a silent port is short of time when the loop could not run', async () => {
  const port = await listen(() => undefined);
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  const stall = setInterval(() => Atomics.wait(sleeper, 0, 0, 150), 200);
  try {
    expect(await probeNow(port, new SlowHosts())).toMatchObject({ shortage: 'timeout', silent: true });
  } finally {
    clearInterval(stall);
  }
});

it.each([
  [0.4, null],
  [0.6, 'timeout'],
])('a silent port of whose time the loop lost a share of %d has the shortage %j', async (share, shortage) => {
  const port = await listen(() => undefined);
  const lostShare = vi.spyOn(PortClock.prototype, 'lostShare', 'get').mockReturnValue(share);
  const lostMs = vi.spyOn(PortClock.prototype, 'lostMs', 'get').mockReturnValue(1000);
  try {
    expect(await probe(port, new SlowHosts())).toMatchObject({ shortage, silent: true });
  } finally {
    lostShare.mockRestore();
    lostMs.mockRestore();
  }
});

it('a port that the rate kept back for too long says so', async () => {
  const port = await listen(() => undefined);
  const net = createGate({
    addresses: parseTargets(['127.0.0.1']).addresses,
    scope: compileScope({ allow: ['127.0.0.0/8'], deny: [] }),
    rate: new PacketRateLimiter({ rate: 5 }),
  });
  const { shortage } = await probe(port, new SlowHosts(), 1 / 40, net);
  // On a machine that is late as well that counts first.
  expect(['rate', 'timeout']).toContain(shortage);
});

it('a host full of unknown ports is probed again on some of them only', () => {
  const hosts = new SlowHosts();
  const granted = Array.from({ length: 100 }, () => hosts.retryUnknown('192.0.2.1')).filter(Boolean);
  expect(granted).toHaveLength(8);
  expect(hosts.retryUnknown('192.0.2.2')).toBe(true);
  for (let port = 1; port <= 17; port++) hosts.probing('192.0.2.3');
  expect(hosts.retryUnknown('192.0.2.3')).toBe(false);
});
