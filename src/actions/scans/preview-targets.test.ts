import { expect, it } from 'vitest';
import { parseTargets } from '../../domain/targets/target.ts';
import { previewTargets } from './preview-targets.ts';

it('a plan counts the block around a name and the addresses of octet ranges', () => {
  const targets = parseTargets(['a.example/28', '10.0.0-3.1,7']);
  const excluded = parseTargets(['10.0.1-2.*', 'b.example/30']);
  const rules = { blocklist: [], scope: { allow: [], deny: [], protect_self: false } };
  const { target_list } = previewTargets({ targets, excluded }, rules);
  expect(target_list.map(({ target, addresses, note }) => [target, addresses, note])).toEqual([
    ['a.example/28', 14, 'name, looked up when the scan starts'],
    ['10.0.0-3.1,7', 8, null],
    ['10.0.1.0-10.0.2.255', 4, 'by the request'],
    ['b.example/30', 0, 'name, looked up when the scan starts'],
  ]);
});

it('a plan lists the first 200 lines of long lists and counts the others', () => {
  const ranges = (from: number, to: number, count: number) =>
    Array.from(
      { length: count },
      (_, at) => `10.${at >> 8}.${at & 255}.${from}-10.${at >> 8}.${at & 255}.${to}`,
    );
  const targets = parseTargets([...ranges(1, 9, 150), '10.0.0.1-10.0.0.9', 'example.net']);
  const excluded = parseTargets(ranges(3, 5, 300));
  const rules = {
    blocklist: ['10.0.0.9', '192.0.2.1'],
    scope: { allow: [], deny: ['10.0.1.9'], protect_self: false },
  };
  const { target_list, target_list_left, inside } = previewTargets({ targets, excluded }, rules);
  expect(target_list.slice(149, 153)).toEqual([
    { target: '10.0.149.1-10.0.149.9', kind: 'target', addresses: 9, note: null },
    { target: 'example.net', kind: 'target', addresses: 1, note: 'name, looked up when the scan starts' },
    { target: '10.0.0.3-10.0.0.5', kind: 'excluded', addresses: 3, note: 'by the request' },
    { target: '10.0.1.3-10.0.1.5', kind: 'excluded', addresses: 3, note: 'by the request' },
  ]);
  // 151 targets, 300 exclusions, one blocked address that is among them, one out of scope.
  expect([target_list.length, target_list_left]).toEqual([200, 253]);
  expect(inside.size).toBe(150n * 6n - 2n);
});
