import type { Scan, ScanRequest, StageRecord } from '../domain/scan.ts';
import type { ScanOrigin } from '../domain/scan-origin.ts';
import { parseTraceparent } from '../domain/trace-context.ts';
import { type AttributeValue, type Span, spanIdOf, traceIdOf } from './span.ts';

/** What names a scan in its trace. */
export type TracedScan = Pick<ScanRequest, 'scan_id' | 'created_at'>;

/** A scan that has ended, as it is stored. */
export type EndedScan = Pick<
  Scan,
  | 'scan_id'
  | 'created_at'
  | 'started_at'
  | 'completed_at'
  | 'status'
  | 'error'
  | 'results'
  | 'progress'
  | 'stages'
>;

/** A run of a shard on one worker, times in epoch milliseconds. */
export interface EndedShard {
  shard: number;
  attempt: number;
  startedAt: number;
  endedAt: number;
  /** Whether it is done, or why another worker gets it. */
  end: string;
  /** Of a shard that failed. */
  errorCode: string | null;
  stages: readonly StageRecord[];
}

/** The trace of a scan: that of the request that submitted it, or one of its own. */
interface Trace {
  traceId: string;
  parentSpanId: string | null;
  rootSpanId: string;
}

/** Null when the client does not record its trace: neither is the scan's part of it. */
function traceOf({ scan_id, created_at }: TracedScan, origin: ScanOrigin): Trace | null {
  const parent = parseTraceparent(origin.traceparent);
  if (parent?.sampled === false) return null;
  const traceId = parent?.traceId ?? traceIdOf(scan_id, created_at, origin.requestId ?? '');
  return { traceId, parentSpanId: parent?.spanId ?? null, rootSpanId: spanIdOf(traceId, 'scan', scan_id) };
}

/** The span of a scan, from its submission to its end, and those of its nodes. */
export function scanSpans(scan: EndedScan, origin: ScanOrigin): Span[] {
  const trace = traceOf(scan, origin);
  if (trace === null) return [];
  const { traceId, parentSpanId, rootSpanId: spanId } = trace;
  const startedAt = Date.parse(scan.created_at);
  const endedAt = Math.max(startedAt, timeOf(scan.completed_at) ?? startedAt);
  const begun = timeOf(scan.started_at);
  const root: Span = {
    traceId,
    spanId,
    parentSpanId,
    name: 'scan',
    kind: 'consumer',
    startedAt,
    endedAt,
    attributes: {
      'portolan.scan_id': scan.scan_id,
      'portolan.status': scan.status,
      'portolan.live_hosts': scan.results.live_hosts,
      'portolan.open_ports': scan.results.open_ports,
      'portolan.vulnerabilities': scan.results.vulnerabilities,
      'portolan.shards': scan.progress.shards.total,
      'portolan.resumes': scan.progress.resumes,
      ...errorAttribute(scan.error?.code ?? null),
    },
    events: begun === null ? [] : [{ name: 'started', at: begun }],
    failure: scan.status === 'failed' ? (scan.error?.code ?? 'failed') : null,
  };
  return [root, ...nodeSpans(root, scan.scan_id, scan.stages)];
}

/** The span of a shard, below that of its scan, and those of its nodes. */
export function shardSpans(scan: TracedScan, origin: ScanOrigin, ended: EndedShard): Span[] {
  const trace = traceOf(scan, origin);
  if (trace === null) return [];
  const { traceId, rootSpanId } = trace;
  const { shard, attempt, startedAt, errorCode } = ended;
  const span: Span = {
    traceId,
    spanId: spanIdOf(rootSpanId, 'shard', String(shard), String(attempt)),
    parentSpanId: rootSpanId,
    name: 'shard',
    kind: 'consumer',
    startedAt,
    endedAt: Math.max(startedAt, ended.endedAt),
    attributes: {
      'portolan.scan_id': scan.scan_id,
      'portolan.shard': shard,
      'portolan.attempt': attempt,
      'portolan.status': ended.end,
      ...errorAttribute(errorCode),
    },
    events: [],
    failure: ended.end === 'done' ? errorCode : ended.end,
  };
  return [span, ...nodeSpans(span, scan.scan_id, ended.stages)];
}

/** Of the nodes that ran. One that was interrupted ends with its parent. */
function nodeSpans(parent: Span, scanId: string, stages: readonly StageRecord[]): Span[] {
  return stages.flatMap((stage) => {
    const startedAt = timeOf(stage.started_at);
    if (startedAt === null || stage.status === 'skipped') return [];
    const { instance_id, module_type, status, items_in, items_out } = stage;
    const span: Span = {
      traceId: parent.traceId,
      spanId: spanIdOf(parent.spanId, 'node', instance_id),
      parentSpanId: parent.spanId,
      name: `node ${module_type}`,
      kind: 'internal',
      startedAt,
      endedAt: Math.max(startedAt, timeOf(stage.completed_at) ?? parent.endedAt),
      attributes: {
        'portolan.scan_id': scanId,
        'portolan.module_type': module_type,
        'portolan.status': status,
        'portolan.items_in': items_in,
        'portolan.items_out': items_out,
      },
      events: [],
      // The message of the error may name a target.
      failure: status === 'failed' ? 'failed' : null,
    };
    return [span];
  });
}

function errorAttribute(code: string | null): Record<string, AttributeValue> {
  return code === null ? {} : { 'error.type': code };
}

function timeOf(time: string | null): number | null {
  return time === null ? null : Date.parse(time);
}
