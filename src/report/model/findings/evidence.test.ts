import { describe, expect, it } from 'vitest';
import { findingRow } from '../../fixtures/report-of-rows.ts';
import { Allowance } from '../bounded.ts';
import { EvidenceList, matchIn } from './evidence.ts';
import { readFinding } from './seen-finding.ts';

const place = { host: '10.0.0.1', port: 80, protocol: 'tcp' as const };

function listOf(texts: readonly string[], allowance = new Allowance(1e9)): EvidenceList {
  const list = new EvidenceList(allowance);
  for (const evidence of texts)
    list.add(readFinding(findingRow('10.0.0.1', 80, 'x', { evidence }), null), place);
  return list;
}

describe('evidence of a kind', () => {
  it('stands once per text, three texts at most, the rest counted', () => {
    const list = listOf(['a', 'b', 'a', '', ' \n', 'c', 'd', 'd', 'e', 'b']);
    expect(list.items.map(({ text, count }) => [text, count])).toEqual([
      ['a', 2],
      ['b', 2],
      ['c', 1],
    ]);
    expect(list.left).toBe(3);
    expect(listOf(['a', 'ab']).items.length).toBe(2);
  });

  it('keeps 4,000 characters and names the length of all', () => {
    const [first, second] = listOf(['x'.repeat(9000), `${'x'.repeat(8999)}y`]).items;
    expect([first?.text.length, first?.length]).toEqual([4000, 9000]);
    // The same start and length.
    expect([first?.count, second]).toEqual([2, undefined]);
  });

  it('keeps only a little once all kinds together have too much', () => {
    const list = listOf(['a'.repeat(3000), 'b'.repeat(3000)], new Allowance(2000));
    expect(list.items.map(({ text }) => text.length)).toEqual([3000, 200]);
  });
});

describe('the match in evidence', () => {
  const cpe = 'cpe:2.3:a:f5:nginx:1.22.1:*:*:*:*:*:*:*';
  const found = (
    text: string,
    detected: string | null,
    product: string | null = null,
    name: string | null = cpe,
  ) => {
    const match = matchIn(text, { detected, product, cpe: name });
    return match && text.slice(match.at, match.at + match.length);
  };

  it.each([
    ['Server: nginx/1.22.1\r\n', '1.22.1', 'nginx', 'nginx/1.22.1'],
    ['Server: nginx/1.22.1\r\n', '1.22.1', null, 'nginx/1.22.1'],
    ['SSH-2.0-OpenSSH_9.2p1 Debian', '9.2p1', 'OpenSSH', 'OpenSSH_9.2p1'],
    ['version 1.22.1 of it', '1.22.1', null, '1.22.1'],
    ['11.22.1 and 1.22.15, then 1.22.1.', '1.22.1', null, '1.22.1'],
    ['Version\\x09\\x00\\x065.18.2', '5.18.2', null, '5.18.2'],
    ['Welcome to NGINX!', '9.9', null, 'NGINX'],
    ['Welcome to NGINX!', null, null, 'NGINX'],
    ['nothing here', '1.0', 'other', null],
    ['', '', '', null],
  ])('of %j, version %j and product %j is %j', (text, detected, product, match) => {
    expect(found(text, detected, product)).toBe(match);
  });

  it('is none without a version and a product', () => {
    expect(found('INFO responded', null, null, null)).toBeNull();
    expect(found('a:b', 'b'.repeat(1000), 'x'.repeat(1000), 'not:a:cpe')).toBeNull();
  });
});
