import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { numberedScanRequest } from '../../store/fixtures/numbered-scan.ts';
import { openStore, type Store } from '../../store/open.ts';
import { StandIns, type StandInsInput } from './stand-ins.ts';

describe('a worker in place of a server', () => {
  let dir: string;
  let store: Store;
  let standIns: StandIns;
  /** Stand-ins that were started and closed. */
  const calls: string[] = [];
  const state = { claimed: 0, hasScans: false, failsToClose: false };

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'portolan-stand-ins-'));
    store = await openStore(join(dir, 'service.db'));
    calls.splice(0);
    Object.assign(state, { claimed: 0, hasScans: false, failsToClose: false });
    await sign(1000);
    const request = numberedScanRequest(1);
    await store.scans.insert(request);
    await store.scanQueue.insert({ scanId: request.scan_id, pool: 'default', owner: 'away' }, 0);
    const input = {
      store,
      now: async () => 1_000_000,
      worker: { serves: () => true },
      config: { server: { shutdown_timeout: 1000 } },
      log: { info: () => undefined, warn: () => undefined },
    } as unknown as StandInsInput;
    const start = async () => {
      calls.push('started');
      return {
        get claimed() {
          return state.claimed;
        },
        hasScans: async () => state.hasScans,
        findsScans: async () => true,
        close: async () => {
          calls.push('closed');
          if (state.failsToClose) throw new Error('the database is away');
        },
      };
    };
    standIns = new StandIns(input, start, { firstMs: 0, betweenMs: 5 });
    standIns.start();
    await expect.poll(() => calls).toEqual(['started']);
  });
  afterEach(async () => {
    await standIns.close(1000);
    await store.close();
    await rm(dir, { recursive: true });
  });

  const sign = (last_seen: number) =>
    store.hosts.saveServer({ server_id: 'away', url: 'u', version: '0.0.0', last_seen, settings: '{}' });

  /** Resolves after it has looked a few times. */
  async function looked(): Promise<void> {
    let looks = 0;
    const { servers } = store.hosts;
    store.hosts.servers = (since) => {
      looks += 1;
      return servers.call(store.hosts, since);
    };
    await expect.poll(() => looks).toBeGreaterThan(2);
    store.hosts.servers = servers;
  }

  it('goes on with the scans that it has taken over, begun or not, when the server is back', async () => {
    state.hasScans = true;
    await sign(1_000_000);
    await looked();
    expect(calls).toEqual(['started']);
    state.hasScans = false;
    await expect.poll(() => calls).toEqual(['started', 'closed']);
  });

  it('takes its place again after it could not end in order', async () => {
    state.failsToClose = true;
    await sign(1_000_000);
    await expect.poll(() => calls).toEqual(['started', 'closed']);
    state.failsToClose = false;
    await sign(1000);
    await expect.poll(() => calls).toEqual(['started', 'closed', 'started']);
  });
});
