import { afterEach, expect, it } from 'vitest';
import { type Behavior, HttpReceiver } from '../../test/receivers.ts';
import type { Span } from './span.ts';
import { SpanExporter, type SpanExporterInput } from './span-exporter.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function exporterTo(behavior?: Behavior, more: Partial<SpanExporterInput> = {}) {
  const receiver = new HttpReceiver(behavior);
  const url = await receiver.listen();
  open.push(() => receiver.close());
  const said: string[] = [];
  const note = (fields: object, message: string) => void said.push(`${message} ${JSON.stringify(fields)}`);
  const exporter = new SpanExporter({
    url,
    headers: { 'x-team': 'net' },
    bodyOf: (spans) => JSON.stringify(spans.map(({ name }) => name)),
    log: { info: note, warn: note },
    retryDelaysMs: [5, 10, 20],
    ...more,
  });
  return { exporter, receiver, said };
}

function spans(count: number): Span[] {
  return Array.from({ length: count }, (_, at) => ({
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    parentSpanId: null,
    name: String(at),
    kind: 'internal',
    startedAt: 1,
    endedAt: 2,
    attributes: {},
    events: [],
    failure: null,
  }));
}

const namesIn = ({ received }: HttpReceiver) =>
  received.flatMap(({ body }) => JSON.parse(body) as string[]).sort((a, b) => Number(a) - Number(b));

it('sends all spans in batches of at most 512, with its headers', async () => {
  const { exporter, receiver, said } = await exporterTo();
  exporter.add(spans(1200));
  await exporter.close(10_000);
  expect(receiver.received.map(({ body }) => JSON.parse(body).length)).toEqual([512, 512, 176]);
  expect(namesIn(receiver)).toEqual(spans(1200).map(({ name }) => name));
  expect(receiver.received[0]?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-team': 'net',
  });
  expect([exporter.dropped, said]).toEqual([0, []]);
});

it.each([429, 502, 503, 504])('sends a batch again after %i', async (status) => {
  const { exporter, receiver } = await exporterTo((index) => ({ status: index < 3 ? status : 200 }));
  exporter.add(spans(2));
  await exporter.close(10_000);
  expect(receiver.received.map(({ body }) => body)).toEqual(Array(4).fill('["0","1"]'));
  expect(exporter.dropped).toBe(0);
});

it('gives up after three repetitions, says so once and counts what is lost', async () => {
  const { exporter, receiver, said } = await exporterTo(() => ({ status: 503 }));
  exporter.add(spans(600));
  await exporter.close(10_000);
  expect(receiver.received).toHaveLength(8);
  expect(exporter.dropped).toBe(600);
  expect(said).toEqual([
    'trace export failed, spans dropped {"reason":"HTTP 503","spans":512}',
    'spans dropped {"spans":600}',
  ]);
});

it.each([400, 401, 413, 500])('does not repeat what the receiver rejects with %i', async (status) => {
  const { exporter, receiver } = await exporterTo(() => ({ status }));
  exporter.add(spans(1));
  await exporter.close(10_000);
  expect([receiver.received.length, exporter.dropped]).toEqual([1, 1]);
});

it('follows no redirect', async () => {
  const elsewhere = new HttpReceiver();
  const location = await elsewhere.listen();
  open.push(() => elsewhere.close());
  const { exporter, receiver } = await exporterTo(() => ({ status: 307, headers: { location } }));
  exporter.add(spans(1));
  await exporter.close(10_000);
  expect([receiver.received.length, elsewhere.received.length, exporter.dropped]).toEqual([1, 0, 1]);
});

it('ends a request that hangs, and goes on with the next batch', async () => {
  const behavior: Behavior = (index) => (index < 2 ? 'hang' : { status: 200 });
  const options = { requestTimeoutMs: 50, retryDelaysMs: [5] };
  const { exporter, receiver, said } = await exporterTo(behavior, options);
  exporter.add(spans(513));
  await exporter.close(10_000);
  expect(exporter.dropped).toBe(512);
  expect(namesIn({ received: receiver.received.slice(2) } as HttpReceiver)).toEqual(['512']);
  expect(said.slice(0, 2)).toEqual([
    'trace export failed, spans dropped {"reason":"timed out","spans":512}',
    'trace export works again {}',
  ]);
});

it('holds a bounded number of spans for a receiver that hangs', async () => {
  const { exporter, said } = await exporterTo(() => 'hang', { requestTimeoutMs: 60_000 });
  for (let round = 0; round < 30; round++) exporter.add(spans(512));
  // One batch is under way, 8,192 spans wait.
  expect(exporter.dropped).toBe(30 * 512 - 8192 - 512);
  expect(said).toHaveLength(1);
  await exporter.close(10);
  expect(exporter.dropped).toBe(30 * 512);
});
