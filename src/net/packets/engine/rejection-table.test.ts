import { describe, expect, it } from 'vitest';
import { RejectionTable, rejectedPorts } from './rejection-table.ts';

const ports = Uint16Array.from([22, 80, 443]);
const kind = (from: string | null) => ({ reason: 'admin-prohibited', icmp: { type: 3, code: 13 }, from });

describe('RejectionTable', () => {
  it('keeps by which error each endpoint was rejected', () => {
    const table = new RejectionTable(6, undefined);
    expect(table.copy()).toBeUndefined();
    table.note(0, kind('10.0.0.254'));
    table.note(2, kind('10.0.0.254'));
    table.note(4, kind('host'));
    const state = table.copy();
    expect(rejectedPorts(state, '10.0.0.1', 0, ports)).toEqual([
      { ...kind('10.0.0.254'), state: 'filtered', count: 2, ports: [22, 443] },
    ]);
    expect(rejectedPorts(state, '10.0.0.2', 1, ports)).toEqual([
      { ...kind('10.0.0.2'), state: 'filtered', count: 1, ports: [80] },
    ]);
  });

  it('goes on from a copy, which later errors do not change', () => {
    const table = new RejectionTable(3, undefined);
    table.note(0, kind('10.0.0.254'));
    const before = table.copy();
    table.note(1, kind('10.0.0.254'));
    expect(rejectedPorts(before, '10.0.0.1', 0, ports)).toMatchObject([{ count: 1 }]);
    const next = new RejectionTable(3, before);
    next.note(2, kind('10.0.0.254'));
    expect(rejectedPorts(next.copy(), '10.0.0.1', 0, ports)).toMatchObject([{ count: 2, ports: [22, 443] }]);
  });

  it('tells 254 errors apart and knows nothing of the others but that they came', () => {
    const table = new RejectionTable(300, undefined);
    for (let endpoint = 0; endpoint < 300; endpoint++) table.note(endpoint, kind(`10.0.1.${endpoint}`));
    const { kinds = [], of = [] } = table.copy() ?? {};
    expect([kinds.length, kinds[253]?.from, kinds[254]?.reason]).toEqual([255, '10.0.1.253', 'icmp-error']);
    expect(of.slice(253, 257)).toEqual(Uint8Array.of(254, 255, 255, 255));
  });
});
