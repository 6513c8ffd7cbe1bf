import { expect, it } from 'vitest';
import { finding, host, port } from '../../../test/result-rows.ts';
import type { ResultRow } from '../../domain/result.ts';
import { IndexOrder } from './index-order.ts';
import { joinedFindings, portsOf } from './joined-findings.ts';
import { matchedMembers } from './matched-members.ts';
import { memberPage } from './member-list.ts';
import { RecordIndex } from './record-index.ts';
import { parseSort } from './sort-keys.ts';

it('equal findings of a host are one row with their ports, others are rows of their own', async () => {
  const at = (address: string, row: ReturnType<typeof finding>) => ({ ...row, host: address });
  const rows: ResultRow[] = [
    host,
    port(22),
    port(80),
    port(443),
    finding(22, 'A', 'high', { class: 'certain' }),
    finding(80, 'A', 'high', { class: 'certain' }),
    finding(443, 'A', 'high', { class: 'possible' }),
    finding(443, 'B', 'high', { class: 'certain' }),
    finding(null, 'A', 'high', { class: 'certain' }),
    at('192.168.1.99', finding(80, 'A', 'high', { class: 'certain' })),
  ];
  const index = RecordIndex.create(':memory:', 'test', false);
  const read = ({ offset }: { offset: number }) => rows[offset] ?? null;
  for (const [offset, row] of rows.entries()) index.add(row, { offset, length: 1 }, read);
  const order = new IndexOrder(index);
  const matched = await matchedMembers(index, order, null, async () => undefined);
  const joined = joinedFindings(index, order, matched);
  const keys = parseSort('-worst', 'vulnerability');
  const start = { offset: 0, after: null };
  const page = memberPage(index, order, matched, 'vulnerability', keys, start, 10, joined);
  const ports = page.members.map(({ number }) => portsOf(index, joined, number).map((each) => each.port));
  expect([page.total, ports]).toEqual([5, [[22, 80], [443], [], [80], [443]]]);
  index.close();
});
