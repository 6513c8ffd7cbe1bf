import { describe, expect, it } from 'vitest';
import type { StageRecord } from '../domain/scan.ts';
import { initialProgress } from '../domain/scan-progress.ts';
import { type EndedScan, scanSpans, shardSpans } from './scan-spans.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const origin = { requestId: 'req_1', traceparent: null };

function stage(name: string, more: Partial<StageRecord> = {}): StageRecord {
  return {
    instance_id: `${name}_1`,
    module_type: name,
    status: 'completed',
    started_at: '2026-10-06T14:30:23.000Z',
    completed_at: '2026-10-06T14:30:24.000Z',
    items_in: 1,
    items_out: 2,
    error: null,
    ...more,
  };
}

function ended(more: Partial<EndedScan> = {}): EndedScan {
  return {
    scan_id: '20261006-143022-a1b2c3',
    created_at: '2026-10-06T14:30:22.000Z',
    started_at: '2026-10-06T14:30:22.500Z',
    completed_at: '2026-10-06T14:31:40.000Z',
    status: 'completed',
    error: null,
    results: { live_hosts: 1, open_ports: 2, vulnerabilities: 3 },
    progress: {
      ...initialProgress(),
      percent: 100,
      phase: 'done',
      hosts_done: 1,
      hosts_total: 1,
      paused: false,
      rate: 0,
      eta_seconds: 0,
      resumes: 0,
      shards: { total: 1, done: 1, running: 0 },
    },
    stages: [stage('connect_scanner'), stage('banner_grabber')],
    ...more,
  };
}

describe('the trace of a scan', () => {
  it('has a root from submission to end and a child for each node', () => {
    const [root, ...nodes] = scanSpans(ended(), origin);
    expect(root).toMatchObject({
      name: 'scan',
      parentSpanId: null,
      startedAt: Date.parse('2026-10-06T14:30:22.000Z'),
      endedAt: Date.parse('2026-10-06T14:31:40.000Z'),
      events: [{ name: 'started', at: Date.parse('2026-10-06T14:30:22.500Z') }],
      failure: null,
    });
    expect(root?.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(nodes.map(({ name }) => name)).toEqual(['node connect_scanner', 'node banner_grabber']);
    for (const node of nodes) {
      expect(node).toMatchObject({ parentSpanId: root?.spanId, traceId: root?.traceId });
      expect(node.spanId).toMatch(/^[0-9a-f]{16}$/);
    }
    expect(new Set([root, ...nodes].map((span) => span?.spanId)).size).toBe(3);
  });

  it('is the same after a restart and on every host, and another one for every submission', () => {
    const of = (requestId: string) => scanSpans(ended(), { ...origin, requestId })[0]?.traceId;
    expect(of('req_1')).toBe(of('req_1'));
    expect(of('req_1')).not.toBe(of('req_2'));
  });

  it('belongs to that of the client, below the span of its request', () => {
    const [root] = scanSpans(ended(), { ...origin, traceparent: `00-${traceId}-${parentId}-01` });
    expect(root).toMatchObject({ traceId, parentSpanId: parentId });
  });

  it('is not recorded when the client does not record its own', () => {
    const unsampled = { ...origin, traceparent: `00-${traceId}-${parentId}-00` };
    expect(scanSpans(ended(), unsampled)).toEqual([]);
    expect(shardSpans(ended(), unsampled, shard())).toEqual([]);
  });

  it('of a scan that failed tells its code; nodes that did not run have no span', () => {
    const stages = [
      stage('connect_scanner', {
        status: 'failed',
        error: 'connect to 192.0.2.1 failed',
        completed_at: null,
      }),
      stage('banner_grabber', { status: 'skipped', started_at: null }),
    ];
    const error = { code: 'timeout' as const, message: 'ran too long at 192.0.2.1' };
    const spans = scanSpans(ended({ status: 'failed', error, stages }), origin);
    expect(spans).toHaveLength(2);
    expect(spans[0]).toMatchObject({ failure: 'timeout', attributes: { 'error.type': 'timeout' } });
    expect(spans[1]).toMatchObject({ failure: 'failed', endedAt: spans[0]?.endedAt });
    // Errors may name targets; spans must not.
    expect(JSON.stringify(spans)).not.toContain('192.0.2.1');
  });

  it('of a scan that never started has a root alone, which ends no earlier than it starts', () => {
    const never = ended({ started_at: null, completed_at: '2026-10-06T14:00:00.000Z', stages: [] });
    const [root, ...others] = scanSpans(never, origin);
    expect(others).toEqual([]);
    expect(root).toMatchObject({ events: [], endedAt: root?.startedAt });
  });
});

function shard() {
  const times = { startedAt: 1000, endedAt: 2000 };
  return { shard: 1, attempt: 2, ...times, end: 'done', errorCode: null, stages: [stage('connect_scanner')] };
}

describe('the span of a shard', () => {
  it('is a child of the span of its scan, with its nodes below it', () => {
    const [root] = scanSpans(ended(), origin);
    const [span, node] = shardSpans(ended(), origin, shard());
    expect(span).toMatchObject({ name: 'shard', traceId: root?.traceId, parentSpanId: root?.spanId });
    expect(span?.attributes).toMatchObject({ 'portolan.shard': 1, 'portolan.attempt': 2 });
    expect(node).toMatchObject({ name: 'node connect_scanner', parentSpanId: span?.spanId });
  });

  it('is another one for each attempt, and failed unless it is done', () => {
    const [first] = shardSpans(ended(), origin, { ...shard(), attempt: 1, end: 'abandoned' });
    const [second] = shardSpans(ended(), origin, shard());
    expect(first?.spanId).not.toBe(second?.spanId);
    expect([first?.failure, second?.failure]).toEqual(['abandoned', null]);
  });
});
