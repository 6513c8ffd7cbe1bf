import { describe, expect, it } from 'vitest';
import { addTraffic, noTraffic, trafficGrowth } from './traffic.ts';

describe('trafficGrowth', () => {
  it('is the difference of every counter', () => {
    const before = { ...noTraffic(), sent: 5 };
    const now = addTraffic(before, {
      sent: 3,
      raw: { ...noTraffic().raw, dropped: 2 },
      errors: { ...noTraffic().errors, refused: 4 },
    });
    const growth = trafficGrowth(now, before);
    expect(growth).toEqual({
      sent: 3,
      raw: { sent: 0, received: 0, dropped: 2, retransmitted: 0 },
      errors: { ...noTraffic().errors, refused: 4 },
    });
    expect(addTraffic(before, growth)).toEqual(now);
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'sent'],
    ['an empty list', []],
    ['counters that shrink', { sent: 1, raw: { sent: 0 }, errors: { refused: -1 } }],
    ['what is not a count', { sent: 1e300, raw: { sent: '7' }, errors: { tls: Number.NaN } }],
    ['members that are missing', { raw: null, errors: 7 }],
    ['kinds that do not exist', { errors: { invented: 7 } }],
  ])('counts %s as unchanged', (_name, reported) => {
    const before = { ...noTraffic(), sent: 5 };
    expect(trafficGrowth(reported, before)).toEqual(noTraffic());
  });
});
