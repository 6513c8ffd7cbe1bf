import { describe, expect, it } from 'vitest';
import type { RejectedPorts } from './host.ts';
import { namedReason, portReasons, Rejections, reasonText, rejectedOf } from './port-reasons.ts';

const prohibited = {
  state: 'filtered' as const,
  reason: 'admin-prohibited',
  icmp: { type: 3, code: 13 },
  from: '10.0.0.254',
};
const one = (port: number, more: Partial<RejectedPorts> = {}): RejectedPorts => ({
  ...prohibited,
  count: 1,
  ports: [port],
  ...more,
});

describe('reasons of ports', () => {
  it('are counted by error and sender, with at most 50 ports by name', () => {
    const rejections = new Rejections();
    for (let port = 100; port > 0; port--) rejections.add(one(port));
    rejections.add(one(200, { from: '10.0.0.1' }));
    const [first, second] = rejections.list();
    expect(first).toMatchObject({ ...prohibited, count: 100 });
    expect(first?.ports).toEqual(Array.from({ length: 50 }, (_, at) => at + 51));
    expect(second).toEqual({ ...prohibited, from: '10.0.0.1', count: 1, ports: [] });
  });

  it('of a host whose errors come from everywhere stay few', () => {
    const rejections = new Rejections();
    for (let sender = 0; sender < 100; sender++)
      rejections.add(one(sender + 1, { from: `10.0.0.${sender}` }));
    const list = rejections.list();
    expect(list).toHaveLength(17);
    expect(list.at(-1)).toMatchObject({ reason: 'icmp-error', icmp: null, from: null, count: 84 });
    expect(list.reduce((sum, { count }) => sum + count, 0)).toBe(100);
  });

  it('sum up to what is closed and filtered', () => {
    const rejected = [one(22, { count: 2, ports: [22, 80] })];
    expect(portReasons('tcp', { closed: 5, filtered: 3 }, rejected)).toEqual([
      { protocol: 'tcp', ...prohibited, count: 2, ports: [22, 80] },
      { protocol: 'tcp', state: 'closed', reason: 'rst', count: 5, ports: [] },
      { protocol: 'tcp', state: 'filtered', reason: 'no-response', count: 1, ports: [] },
    ]);
    // An error that came twice, before and after a kill.
    expect(portReasons('udp', { closed: 0, filtered: 1 }, rejected)).toMatchObject([{ count: 1 }]);
    expect(portReasons('udp', { closed: 1, filtered: 1 }, [])).toMatchObject([
      { state: 'closed', reason: 'port-unreachable' },
      { state: 'open|filtered', reason: 'no-response' },
    ]);
  });

  it('are read back from a row as the errors that they were made of', () => {
    const reasons = [
      ...portReasons('tcp', { closed: 1, filtered: 2 }, [one(22)]),
      ...portReasons('udp', { closed: 0, filtered: 1 }, []),
    ];
    expect(rejectedOf(reasons)).toEqual({ tcp: [one(22)], udp: [] });
  });

  it('of one port are those that name it', () => {
    const reasons = portReasons('tcp', { closed: 0, filtered: 2 }, [one(22)]);
    expect(reasonText(namedReason(reasons, 'tcp', 22) ?? { reason: '' })).toBe(
      'admin-prohibited from 10.0.0.254',
    );
    expect(namedReason(reasons, 'tcp', 80)).toBeNull();
    expect(namedReason(reasons, 'udp', 22)).toBeNull();
  });
});
