import { describe, expect, it } from 'vitest';
import { formatTraceparent, parseTraceparent } from './trace-context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

describe('traceparent', () => {
  it('names trace, span and whether the caller samples', () => {
    expect(parseTraceparent(`00-${traceId}-${spanId}-01`)).toEqual({ traceId, spanId, sampled: true });
    expect(parseTraceparent(`00-${traceId}-${spanId}-02`)).toEqual({ traceId, spanId, sampled: false });
    expect(parseTraceparent(`00-${traceId}-${spanId}-ff`)?.sampled).toBe(true);
  });

  it('of a later version counts by its first four fields', () => {
    expect(parseTraceparent(`cc-${traceId}-${spanId}-01-what-comes-later`)?.traceId).toBe(traceId);
    expect(parseTraceparent(`cc-${traceId}-${spanId}-01`)?.spanId).toBe(spanId);
  });

  it.each([
    ['absent', undefined],
    ['repeated', [`00-${traceId}-${spanId}-01`, `00-${traceId}-${spanId}-01`]],
    ['joined of two', `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`],
    ['of version ff', `ff-${traceId}-${spanId}-01`],
    ['of version 00 with a fifth field', `00-${traceId}-${spanId}-01-more`],
    ['of a later version without a separator', `cc-${traceId}-${spanId}-01more`],
    ['in capitals', `00-${traceId.toUpperCase()}-${spanId}-01`],
    ['with a trace id of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['with a span id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['with a short trace id', `00-${traceId.slice(1)}-${spanId}-01`],
    ['with other characters', `00-${traceId.slice(1)}g-${spanId}-01`],
    ['with a space at its end', `00-${traceId}-${spanId}-01 `],
    ['with a line break at its end', `00-${traceId}-${spanId}-01\n`],
    ['empty', ''],
  ])('is ignored when it is %s', (_what, header) => {
    expect(parseTraceparent(header)).toBeNull();
  });

  it('is written as it was read', () => {
    const text = `00-${traceId}-${spanId}-01`;
    expect(formatTraceparent(parseTraceparent(text) ?? { traceId: '', spanId: '', sampled: false })).toBe(
      text,
    );
  });
});
