import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Listeners } from '../cli/listeners.ts';
import { postgresObstacle, storeDatabase } from '../postgres.ts';
import type { ServerProcess } from '../program.ts';
import { Lab, until } from './cluster.ts';

/** Of a scan that runs for seconds; no other test scans it. */
const slow = '127.86.2.1';
const portCount = 300;

type Tenant = 'acme' | 'globex';

interface DashboardData {
  series: {
    name: string;
    scan: { scan_id: string };
    previous: string | null;
    changes: { new: number; fixed: number; changed: number; not_comparable: number };
  }[];
  totals: Record<string, { count: number; change: number | null; hosts: number | null }>;
  trend: { critical: number; high: number }[];
  fixes: { text: string }[];
  pending: boolean;
}

interface WorkerData {
  worker_id: string;
  state: string;
  busy: number;
  scans: string[];
}

describe.skipIf(postgresObstacle() !== null)('what the pages of one server show of another', () => {
  const listeners = new Listeners();
  let lab: Lab;
  /** Runs every scan. */
  let home: ServerProcess;
  let other: ServerProcess;
  let version = '1.18.0';

  beforeAll(async () => {
    lab = await Lab.open([slow], portCount);
    const env = {
      SERVICE_QUEUE__URL: await storeDatabase(),
      SERVICE_MULTI_TENANT__ENABLED: 'true',
      SERVICE_MULTI_TENANT__TENANTS: 'acme,globex',
    };
    home = await lab.server(env);
    other = await lab.server(env);
  });
  afterAll(async () => {
    listeners.close();
    await lab?.dispose();
  });

  async function data<T>(
    server: ServerProcess,
    tenant: Tenant,
    path: string,
    init: RequestInit = {},
  ): Promise<T> {
    const headers = { 'x-tenant-id': tenant, 'content-type': 'application/json' };
    const { status, body } = await server.request(`/api/v1/${path}`, { ...init, headers });
    expect(status, `${path}: ${JSON.stringify(body)}`).toBeLessThan(300);
    return (body as { data: T }).data;
  }

  const submit = async (submission: object): Promise<string> =>
    (
      await data<{ scan_id: string }>(home, 'acme', 'scans', {
        method: 'POST',
        body: JSON.stringify(submission),
      })
    ).scan_id;
  const statusAt = async (server: ServerProcess, scanId: string) =>
    (await data<{ status: string }>(server, 'acme', `scans/${scanId}`)).status;
  const ended = (scanId: string) =>
    until('the end of a scan', async () => (await statusAt(home, scanId)) === 'completed');
  /** One connection to each port, 40 a second. */
  const submitSlow = () =>
    submit({
      targets: [slow],
      ports: lab.field.ports,
      rate: 40,
      dag: 'port-scan',
      name: 'slow',
      options: { discover: false, retries: 0, timeout: '1s' },
    });
  const cancel = (scanId: string) => data(home, 'acme', `scans/${scanId}/cancel`, { method: 'POST' });

  /** Once everything is computed. */
  async function dashboard(server: ServerProcess, tenant: Tenant): Promise<DashboardData> {
    let read = await data<DashboardData>(server, tenant, 'dashboard');
    await until('the values of a dashboard', async () => {
      read = await data<DashboardData>(server, tenant, 'dashboard');
      return !read.pending;
    });
    return read;
  }

  /** Two runs of the same scan: meanwhile a service was updated, and another appeared. */
  async function runTwice(): Promise<[string, string]> {
    const page = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n';
    const web = await listeners.serve((socket) =>
      socket.once('data', () => socket.end(`${page}Server: nginx/${version}\r\n\r\n`)),
    );
    const ftp = await listeners.greet('220 (vsFTPd 2.3.4)\r\n');
    const submission = {
      targets: ['127.0.0.1'],
      ports: [web, ftp],
      name: 'office',
      vuln: true,
      options: { discover: false },
    };
    const first = await submit(submission);
    await ended(first);
    version = '1.29.1';
    const second = await submit(submission);
    await ended(second);
    return [first, second];
  }

  it('the dashboard: findings, fixes and what changed, as on the server that ran the scans', async () => {
    const [first, second] = await runTwice();
    const there = await dashboard(other, 'acme');
    expect(there.series).toMatchObject([{ name: 'office', scan: { scan_id: second }, previous: first }]);
    expect(there.series[0]?.changes).toMatchObject({ changed: 1, not_comparable: 0 });
    expect(there.fixes.length).toBeGreaterThan(0);
    expect(Object.values(there.totals).some(({ count, hosts }) => count > 0 && hosts === 1)).toBe(true);
    expect(there).toEqual(await dashboard(home, 'acme'));
    // What is on another server is not damaged.
    const { checks } = await data<{ checks: { name: string }[] }>(other, 'acme', 'health');
    expect(checks.map(({ name }) => name)).not.toContain('records');
    for (const server of [home, other]) {
      const empty = await dashboard(server, 'globex');
      expect(empty).toMatchObject({ series: [], fixes: [], not_comparable: 0 });
      expect(Object.values(empty.totals).map(({ count }) => count)).toEqual([0, 0, 0, 0, 0]);
      expect(empty.trend.every(({ critical, high }) => critical + high === 0)).toBe(true);
    }
  });

  it('the workers of both, and which of them runs what', async () => {
    const scanId = await submitSlow();
    const working = async (server: ServerProcess, tenant: Tenant) =>
      (await data<{ workers: WorkerData[] }>(server, tenant, 'workers')).workers;
    try {
      await until('a worker of the scan', async () =>
        (await working(other, 'acme')).some(({ scans }) => scans.includes(scanId)),
      );
      const seen = await working(other, 'acme');
      expect(seen).toHaveLength(2);
      const ids = async (server: ServerProcess) =>
        (await working(server, 'acme')).map(({ worker_id }) => worker_id).sort();
      expect(await ids(home)).toEqual(await ids(other));
      expect(seen.find(({ scans }) => scans.includes(scanId))).toMatchObject({ busy: expect.any(Number) });
      // That somebody works is no secret, but what on is.
      for (const server of [home, other])
        expect((await working(server, 'globex')).flatMap(({ scans }) => scans)).toEqual([]);
    } finally {
      await cancel(scanId);
    }
    await until('idle workers', async () =>
      (await working(other, 'acme')).every(({ scans }) => scans.length === 0),
    );
  });

  it('the events of its scans, to their tenant only', async () => {
    const leaving = new AbortController();
    const texts = { acme: '', globex: '' };
    const follow = async (tenant: Tenant) => {
      const headers = { 'x-tenant-id': tenant };
      const { body } = await fetch(`${other.url}/api/v1/events`, { headers, signal: leaving.signal });
      for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) texts[tenant] += piece;
    };
    const reading = [follow('acme'), follow('globex')].map((each) => each.catch(() => undefined));
    try {
      for (const tenant of ['acme', 'globex'] as const)
        await until('the first event', () => texts[tenant].includes('event: hello'));
      const scanId = await submitSlow();
      const shown = (status: string) =>
        new RegExp(`^event: scan\n.*\n?data: \\{"scan_id":"${scanId}","status":"${status}"`, 'm').test(
          texts.acme,
        );
      await until('its start', () => shown('running'));
      await cancel(scanId);
      await until('its end', () => shown('failed'));
      await data(home, 'acme', `scans/${scanId}`, { method: 'DELETE' });
      await until('its deletion', () => texts.acme.includes(`event: scan_deleted\n`));
      // So much later globex has got events, but none of this scan.
      await until('another event of globex', () => texts.globex.includes('event: time'));
      expect(texts.globex).not.toContain(scanId);
      expect(texts.globex).not.toMatch(/^event: scan/m);
    } finally {
      leaving.abort();
      await Promise.all(reading);
    }
  });
});
