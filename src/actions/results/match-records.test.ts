import { describe, expect, it } from 'vitest';
import { compliance, extra, finding, host, port, stream, summary } from '../../../test/result-rows.ts';
import { parseQuery } from '../../domain/query/parse-query.ts';
import { type ResultRow, rowIdentity } from '../../domain/result.ts';
import { matchingRows, noMatches } from './match-records.ts';

const other = { ...host, host: '192.168.1.11' };
const rows: ResultRow[] = [
  compliance('4.1', { severity: 'high' }),
  extra('k', 'nginx'),
  host,
  port(22),
  port(443, { banner: 'nginx' }),
  finding(443, 'a', 'high'),
  finding(443, 'b', 'low'),
  finding(null, 'c', 'high'),
  other,
  { ...port(443), host: other.host },
  summary,
];

async function found(query: string) {
  const counted = noMatches();
  const matches = await Array.fromAsync(matchingRows(stream(rows), parseQuery(query), counted));
  return { rows: matches.map(rowIdentity), counted };
}

describe('matchingRows', () => {
  it('keeps hosts with a tuple that satisfies the whole query, with the members of their tuples', async () => {
    const { rows: kept, counted } = await found('port:443 severity:high');
    expect(kept).toEqual([`h ${host.host}`, `p ${host.host} 443 tcp`, `v ${host.host} 443 tcp a`]);
    expect(counted).toEqual({
      matches: { hosts: 1, ports: 1, findings: 1 },
      totals: { hosts: 2, ports: 3, findings: 3 },
    });
  });

  it.each([
    [
      'severity:high',
      [
        'c 192.168.1.10 80 cis 4.1',
        'h 192.168.1.10',
        'p 192.168.1.10 443 tcp',
        'v 192.168.1.10 443 tcp a',
        'v 192.168.1.10   c',
      ],
    ],
    ['host:192.168.1.11', ['h 192.168.1.11', 'p 192.168.1.11 443 tcp']],
    ['port:22 severity:none', ['h 192.168.1.10', 'p 192.168.1.10 22 tcp']],
    ['port:23', []],
  ])('%s', async (query, expected) => expect((await found(query)).rows).toEqual(expected));

  it('keeps everything but the summary for an empty query', async () => {
    expect((await found('')).rows.length).toBe(rows.length - 1);
  });

  it('finds ports without a host row', async () => {
    const matches = await Array.fromAsync(
      matchingRows(stream([port(22)]), parseQuery('port:22'), noMatches()),
    );
    expect(matches).toEqual([port(22)]);
  });
});
