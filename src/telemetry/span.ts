import { createHash } from 'node:crypto';

/** A value of an attribute. None holds text of a target, a tenant or a token. */
export type AttributeValue = string | number;

/** A finished span, times in epoch milliseconds. */
export interface Span {
  /** 32 and 16 lower-case hex digits. */
  traceId: string;
  spanId: string;
  /** Null for a trace that begins here. */
  parentSpanId: string | null;
  name: string;
  /** `consumer`: works on a request that may have ended long ago. */
  kind: 'internal' | 'consumer';
  startedAt: number;
  endedAt: number;
  attributes: Record<string, AttributeValue>;
  /** Moments within the span. */
  events: { name: string; at: number }[];
  /** What OpenTelemetry calls a description: a code; null unless the span failed. */
  failure: string | null;
}

/** Ids derived from what is stored: every server and worker, also after a restart, has the same ones. */
export function traceIdOf(...parts: string[]): string {
  return digestOf(parts).slice(0, 32);
}

export function spanIdOf(...parts: string[]): string {
  return digestOf(parts).slice(0, 16);
}

function digestOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
