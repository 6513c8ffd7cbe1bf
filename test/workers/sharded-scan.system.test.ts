import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresObstacle, storeDatabase } from '../postgres.ts';
import { type ScanDetail, ServerProcess } from '../program.ts';
import { type Row, rowsOf } from './cluster.ts';
import { WorkerProcess } from './worker-process.ts';

const hello = 'SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u7\r\n';
const network = '127.77.0.0/24';
/** Takes connections on every port that is asked for. */
const liar = '127.77.0.77';

describe.skipIf(postgresObstacle() !== null)('a scan in shards', () => {
  const listeners: Server[] = [];
  const listen = async (address: string, port: number, greeting: string) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end(greeting);
    });
    await new Promise<void>((resolve) => server.listen(port, address, resolve));
    listeners.push(server);
  };

  beforeAll(async () => {
    await listen('127.77.0.5', 2222, hello);
    await listen('127.77.0.130', 2222, hello);
    await listen('127.77.0.209', 2223, '220 mail.example.net ESMTP Postfix\r\n');
    for (let port = 2222; port < 2242; port++) await listen(liar, port, '');
    await listen('127.77.0.240', 2222, '');
  });

  afterAll(async () => {
    for (const server of listeners) server.close();
  });

  const serverOn = async (url: string | null, env: NodeJS.ProcessEnv = {}) => {
    const server = new ServerProcess({
      env: {
        ...(url && { SERVICE_QUEUE__URL: url, SERVICE_WORKERS__SHARD_SIZE: '100' }),
        SERVICE_SERVER__WORKERS: '3',
        ...env,
      },
    });
    await server.start();
    return server;
  };

  it('finds what a scan without shards finds, each thing once', async () => {
    const submission = {
      targets: [network, 'localhost'],
      exclude: ['127.77.0.7'],
      ports: '2222-2241',
      rate: 4000,
      vuln: true,
      profile: 'standard',
    };
    const run = async (url: string | null) => {
      const server = await serverOn(url);
      try {
        const scanId = await server.submit(submission);
        const detail = await server.waitForEnd(scanId);
        const metrics = String((await server.request('/metrics')).body);
        const packets = Number(/^service_packets_sent_total (\d+)/m.exec(metrics)?.[1]);
        const refused = Number(/^service_probe_errors_total\{kind="refused"\} (\d+)/m.exec(metrics)?.[1]);
        return { detail, rows: await rowsOf(server, scanId), packets, refused };
      } finally {
        await server.dispose();
      }
    };
    const whole = await run(null);
    const sharded = await run(await storeDatabase());
    expect(whole.detail.status).toBe('completed');
    expect(sharded.detail.status, JSON.stringify(sharded.detail)).toBe('completed');
    expect(sharded.detail.results).toEqual(whole.detail.results);
    const [before, now] = [whole, sharded].map(({ rows }) => rows.map(bareRow).sort());
    expect(now?.filter((row) => !before?.includes(row))).toEqual(
      before?.filter((row) => !now?.includes(row)),
    );
    expect(now).toHaveLength(before?.length ?? 0);
    expect(sharded.detail.stages.map(bareStage)).toEqual(whole.detail.stages.map(bareStage));
    // Every address and port at least, whoever sent it.
    expect(whole.packets).toBeGreaterThan(1000);
    expect(sharded.packets).toBeGreaterThan(1000);
    // Each closed port once, and what service probes and retries meet.
    expect(whole.refused).toBeGreaterThan(1000);
    expect(sharded.refused).toBeGreaterThan(1000);
    expect(Math.abs(sharded.refused - whole.refused)).toBeLessThan(whole.refused / 10);
    // How many ports are silent, a late machine does not say either.
    const steady = ({ warnings }: ScanDetail) => warnings.filter(({ code }) => code !== 'tarpit');
    expect(steady(sharded.detail)).toEqual(steady(whole.detail));
    expect(sharded.detail.progress).toMatchObject({ shards: { total: 3, done: 3, running: 0 } });
    // The same rules: what the shards named is not named again at the end.
    const { fingerprint, scanner } = timesOf(sharded.detail);
    expect(fingerprint.begun).toBeLessThan(scanner.ended);
  });

  it('what a worker names by rules of its own, the server names too', async () => {
    const url = await storeDatabase();
    const server = await serverOn(url);
    const rules = join(server.workspace, 'rules.yaml');
    writeFileSync(
      rules,
      '- { id: smtp.other, description: Another name, category: mail, service: smtp, source: smtp.greeting, ' +
        "pattern: 'ESMTP Postfix', product: Somethingelse, vendor: other, certainty: 1, " +
        'examples: [{ text: mail.example.net ESMTP Postfix }] }\n',
    );
    const worker = new WorkerProcess(['--pool', 'lab', '--queue', url], {
      SERVICE_FINGERPRINT__RULES: rules,
    });
    await worker.start();
    try {
      const scanId = await server.submit({
        targets: ['127.77.0.209'],
        ports: '2223',
        profile: 'standard',
        pool: 'lab',
      });
      const detail = await server.waitForEnd(scanId);
      const products = (await rowsOf(server, scanId)).flatMap((row) => productsOf(row));
      expect(products).toEqual(['Somethingelse', 'Postfix']);
      const { fingerprint, scanner } = timesOf(detail);
      expect(fingerprint.begun).toBeGreaterThanOrEqual(scanner.ended);
    } finally {
      await worker.dispose();
      await server.dispose();
    }
  });
});

const momentary = new Set([
  'timestamp',
  'latency_ms',
  'scan_id',
  'duration_seconds',
  'method',
  // Silent ports are marked where the machine was late.
  'unidentified_reason',
  'unidentified',
  // So it does not show that their host accepts every port.
  'all_ports_open',
]);

/** What does not depend on the moment, its fields in one order. */
function bareRow(row: Row): string {
  return JSON.stringify(row, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const fields = Object.entries(value).filter(([name]) => !momentary.has(name));
    return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** When names were given and ports were found, epoch milliseconds. */
function timesOf({ stages }: ScanDetail) {
  const of = (module: RegExp) => {
    const found = stages.filter((stage) => module.test((stage as unknown as Stage).module_type));
    const { started_at, completed_at } = found[0] as unknown as Stage;
    return { begun: Date.parse(started_at), ended: Date.parse(completed_at) };
  };
  return { fingerprint: of(/^fingerprint_coordinator$/), scanner: of(/^(connect|syn)_scanner$/) };
}

interface Stage {
  module_type: string;
  started_at: string;
  completed_at: string;
}

function bareStage(stage: ScanDetail['stages'][number]) {
  const { instance_id, status, coverage } = stage as Record<string, unknown>;
  return { instance_id, status, coverage };
}

function productsOf({ fingerprints }: Row): string[] {
  return ((fingerprints ?? []) as { product: string }[]).map(({ product }) => product);
}
