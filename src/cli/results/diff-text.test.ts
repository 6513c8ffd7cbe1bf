import { expect, it } from 'vitest';
import type { ChangeList, ChangeLists, Comparison } from '../../actions/results/compare-scans.ts';
import { diffText } from './diff-text.ts';

function comparison(lists: { [L in ChangeList]?: ChangeLists[L][] }): Comparison {
  return {
    scan_id: 'after',
    against: 'before',
    unchanged: 0,
    list: <L extends ChangeList>(name: L) => (lists[name] ?? []) as ChangeLists[L][],
  };
}

const text = async (lists: Parameters<typeof comparison>[0]) =>
  (await Array.fromAsync(diffText(comparison(lists)))).join('');

it('says which host moved, and by what it was known again', async () => {
  const moved = {
    before: '192.0.2.1',
    after: '192.0.2.9',
    by: [
      { kind: 'mac' as const, value: '00:0c:29:00:00:01' },
      { kind: 'ssh_host_key' as const, value: 'ssh-ed25519 abc' },
    ],
  };
  const lists = { 'hosts.added': ['192.0.2.9'], 'hosts.removed': ['192.0.2.1'], 'hosts.moved': [moved] };
  expect(await text(lists)).toBe(
    [
      'changes in after since before',
      '+ host 192.0.2.9',
      '- host 192.0.2.1',
      '~ host 192.0.2.1 -> 192.0.2.9  same mac, ssh host key',
      '',
    ].join('\n'),
  );
});

it('says so when nothing changed', async () => {
  expect(await text({})).toBe('changes in after since before\nno change\n');
});
