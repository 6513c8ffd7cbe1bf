import type { AttributeValue, Span } from './span.ts';

/** What the spans come from. */
export type Resource = Record<string, AttributeValue>;

/** Numbers of `SpanKind` and `StatusCode` in the OpenTelemetry protocol. */
const kinds = { internal: 1, consumer: 5 } as const;
const errorStatus = 2;

/** The body of a request to `/v1/traces`: OTLP 1.x as JSON, which has ids in hex and 64-bit numbers as text. */
export function otlpBody(resource: Resource, version: string, spans: readonly Span[]): string {
  const scope = { name: 'portolan', version };
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope, spans: spans.map(spanOf) }],
      },
    ],
  });
}

function spanOf({ traceId, spanId, parentSpanId, name, kind, events, failure, ...span }: Span): object {
  return {
    traceId,
    spanId,
    ...(parentSpanId !== null && { parentSpanId }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanoseconds(span.startedAt),
    endTimeUnixNano: nanoseconds(span.endedAt),
    attributes: attributesOf(span.attributes),
    events: events.map((event) => ({ name: event.name, timeUnixNano: nanoseconds(event.at) })),
    status: failure === null ? {} : { code: errorStatus, message: failure },
  };
}

function attributesOf(values: Record<string, AttributeValue>): object[] {
  return Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
  }));
}

function nanoseconds(ms: number): string {
  return String(BigInt(Math.trunc(ms)) * 1_000_000n);
}
