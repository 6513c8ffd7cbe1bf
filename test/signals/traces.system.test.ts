import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { TargetField } from '../faults/target-field.ts';
import { postgresObstacle, storeDatabase } from '../postgres.ts';
import { ServerProcess } from '../program.ts';
import { type Behavior, HttpReceiver } from '../receivers.ts';
import { Cluster, longLease, until } from '../workers/cluster.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const callerId = '00f067aa0ba902b7';
const traceparent = `00-${traceId}-${callerId}-01`;
const hosts = ['127.95.0.1', '127.95.0.2'];

interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: string } }[];
  status: { code?: number; message?: string };
}

interface OtlpBody {
  resourceSpans: {
    resource: { attributes: OtlpSpan['attributes'] };
    scopeSpans: { spans: OtlpSpan[] }[];
  }[];
}

const opened: { dispose(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.dispose();
});

/** A collector of traces over OTLP/HTTP, and the environment that names it. */
async function openCollector(behavior?: Behavior) {
  const receiver = new HttpReceiver(behavior);
  const url = await receiver.listen();
  opened.push({ dispose: () => receiver.close() });
  return { receiver, env: { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SERVICE_NAME: 'scanner-test' } };
}

const bodiesOf = ({ received }: HttpReceiver) => received.map(({ body }) => JSON.parse(body) as OtlpBody);

function spansOf(receiver: HttpReceiver): OtlpSpan[] {
  return bodiesOf(receiver).flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );
}

async function openField(): Promise<TargetField> {
  const field = await TargetField.open(hosts, 3);
  opened.push({ dispose: async () => field.close() });
  return field;
}

async function submit(server: ServerProcess, field: TargetField, headers: object = {}, more: object = {}) {
  const response = await server.request('/api/v1/scans', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      targets: hosts,
      ports: field.ports,
      dag: 'port-scan',
      options: { discover: false, retries: 0, timeout: '1s' },
      ...more,
    }),
  });
  expect(response.status, JSON.stringify(response.body)).toBe(201);
  return (response.body as { data: { scan_id: string } }).data.scan_id;
}

async function startServer(env: NodeJS.ProcessEnv): Promise<ServerProcess> {
  const server = new ServerProcess({ env });
  opened.push(server);
  await server.start();
  return server;
}

/** Ids are well-formed, every parent but one is there, and no span ends before it starts or starts before its parent. */
function expectWellFormed(spans: readonly OtlpSpan[], outside: string | undefined): void {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  expect(byId.size).toBe(spans.length);
  for (const span of spans) {
    expect(span.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
    expect(span.spanId).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
    expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), span.name).toBe(true);
    if (span.name === 'scan') {
      expect(span.parentSpanId).toBe(outside);
      continue;
    }
    const parent = byId.get(span.parentSpanId ?? '');
    expect(parent, `${span.name} has no parent`).toBeDefined();
    if (!parent) continue;
    expect(BigInt(span.startTimeUnixNano) >= BigInt(parent.startTimeUnixNano), span.name).toBe(true);
    expect(BigInt(span.endTimeUnixNano) <= BigInt(parent.endTimeUnixNano), span.name).toBe(true);
  }
  expect(new Set(spans.map((span) => span.traceId)).size).toBe(1);
}

const valueOf = ({ attributes }: OtlpSpan, name: string) => {
  const value = attributes.find(({ key }) => key === name)?.value;
  return value?.stringValue ?? value?.intValue;
};

/** Nothing that names a target, a tenant or the request may leave with a trace. */
const kept =
  /127\.95\.|"(?!portolan|host\.name|process|service|error\.type|scan)[a-z_.]*(target|tenant|token)/;

describe('traces', () => {
  it.skipIf(postgresObstacle() !== null)(
    'of a scan in two shards arrive complete: the scan, its shards, and the nodes of each',
    async () => {
      const { receiver, env } = await openCollector();
      const field = await openField();
      const cluster = new Cluster(await storeDatabase(), {
        ...longLease,
        ...env,
        SERVICE_WORKERS__SHARD_SIZE: '1',
      });
      opened.push(cluster);
      await cluster.server.start();
      const worker = await cluster.worker([], env);
      const scanId = await submit(cluster.server, field, { traceparent }, { pool: 'lab' });
      expect(await cluster.server.waitForEnd(scanId)).toMatchObject({ status: 'completed' });
      await until('the spans', () => {
        const names = spansOf(receiver).map(({ name }) => name);
        return names.includes('scan') && names.filter((name) => name === 'shard').length === 2;
      });
      const spans = spansOf(receiver);
      expectWellFormed(spans, callerId);
      expect(spans[0]?.traceId).toBe(traceId);
      const named = (name: string) => spans.filter((span) => span.name === name);
      const [root] = named('scan');
      const shards = named('shard');
      expect(shards.map((shard) => valueOf(shard, 'portolan.shard')).sort()).toEqual(['0', '1']);
      expect(shards.map((shard) => [shard.parentSpanId, valueOf(shard, 'portolan.status')])).toEqual(
        Array.from({ length: 2 }, () => [root?.spanId, 'done']),
      );
      // Each shard has swept ports; the scan as a whole has not.
      const sweeps = named('node syn_scanner').map(({ parentSpanId }) => parentSpanId);
      expect(sweeps.toSorted()).toEqual(shards.map(({ spanId }) => spanId).toSorted());
      const own = spans.filter(({ parentSpanId, name }) => parentSpanId === root?.spanId && name !== 'shard');
      expect(own.map(({ name }) => name)).toContain('node json_reporter');
      expect(valueOf(root as OtlpSpan, 'portolan.open_ports')).toBe('6');
      expect(JSON.stringify(bodiesOf(receiver))).not.toMatch(kept);
      const pids = bodiesOf(receiver).map(({ resourceSpans }) =>
        resourceSpans[0]?.resource.attributes.find(({ key }) => key === 'process.pid'),
      );
      expect(new Set(pids.map((pid) => pid?.value.intValue))).toEqual(
        new Set([String(cluster.server.pid), String(worker.pid)]),
      );
      expect(new Set(receiver.received.map(({ path }) => path))).toEqual(new Set(['/v1/traces']));
    },
  );

  it('go on in the same trace after a kill and a restart, as a child of the request', async () => {
    const { receiver, env } = await openCollector();
    const field = await openField();
    const server = await startServer(env);
    const scanId = await submit(server, field, { traceparent }, { rate: 1 });
    await until('the scan runs', async () => (await server.detail(scanId)).status === 'running');
    await server.stop('SIGKILL');
    await server.start();
    await server.request(`/api/v1/scans/${scanId}/cancel`, { method: 'POST' });
    await server.stop();
    const spans = spansOf(receiver);
    expectWellFormed(spans, callerId);
    expect(spans[0]).toMatchObject({ name: 'scan', traceId, status: { code: 2, message: 'canceled' } });
    expect(spans.filter(({ name }) => name === 'scan')).toHaveLength(1);
  });

  it('begin anew where traceparent is malformed, and leave out what the client does not record', async () => {
    const { receiver, env } = await openCollector();
    const field = await openField();
    const server = await startServer(env);
    const malformed = await submit(server, field, {
      traceparent: `00-${traceId.toUpperCase()}-${callerId}-01`,
    });
    const unsampled = await submit(server, field, { traceparent: `00-${traceId}-${callerId}-00` });
    await server.waitForEnd(malformed);
    await server.waitForEnd(unsampled);
    await server.stop();
    const spans = spansOf(receiver);
    expectWellFormed(spans, undefined);
    expect(new Set(spans.map((span) => valueOf(span, 'portolan.scan_id')))).toEqual(new Set([malformed]));
    expect(spans[0]?.traceId).not.toBe(traceId);
  });

  it.each<[string, Behavior]>([
    ['hangs', () => 'hang'],
    ['responds with 500', () => ({ status: 500 })],
    ['drops connections', () => 'drop'],
  ])('change nothing for the scan, nor for the stop, when the collector %s', async (_what, behavior) => {
    const { receiver, env } = await openCollector(behavior);
    const field = await openField();
    const server = await startServer(env);
    const scanId = await submit(server, field, { traceparent });
    expect(await server.waitForEnd(scanId)).toMatchObject({
      status: 'completed',
      results: { live_hosts: 2, open_ports: 6 },
      warnings: [],
    });
    await until('the end of the scan', () => server.log.includes('scan ended'));
    expect(await server.stop()).toBe(0);
    expect(receiver.received.length).toBeGreaterThan(0);
    expect(server.log.match(/spans dropped/g)?.length).toBeLessThanOrEqual(2);
    expect(server.log).toContain('spans dropped');
  });

  it('load nothing of them without an endpoint, or where OpenTelemetry is off', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'portolan-traces-'));
    opened.push({ dispose: async () => rmSync(folder, { recursive: true, force: true }) });
    const counter = join(folder, 'counter.mjs');
    writeFileSync(
      counter,
      `import { registerHooks } from 'node:module';
       import { writeFileSync } from 'node:fs';
       const urls = [];
       registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context); } });
       process.on('exit', () => writeFileSync(${JSON.stringify(folder)} + '/' + process.pid + '.json', JSON.stringify(urls)));`,
    );
    const loaded = async (env: NodeJS.ProcessEnv) => {
      for (const name of readdirSync(folder)) if (name.endsWith('.json')) rmSync(join(folder, name));
      // The bundle has chunks in place of files.
      const sources = { PORTOLAN_SOURCES: '1' };
      const server = await startServer({ NODE_OPTIONS: `--import=${counter}`, ...sources, ...env });
      await server.stop();
      const lists = readdirSync(folder).filter((name) => name.endsWith('.json'));
      const urls = lists.flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as string[]);
      expect(urls.some((url) => url.includes('/server/start.'))).toBe(true);
      return urls.filter((url) => url.includes('/telemetry/')).length;
    };
    const { env } = await openCollector();
    expect(await loaded({})).toBe(0);
    expect(await loaded({ ...env, OTEL_SDK_DISABLED: 'true' })).toBe(0);
    expect(await loaded(env)).toBeGreaterThan(3);
  });
});
