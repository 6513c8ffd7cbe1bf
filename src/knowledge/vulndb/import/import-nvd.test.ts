import { describe, expect, it } from 'vitest';
import { nvdRecord } from '../fixtures/feeds.ts';
import { readNvdRecord } from './import-nvd.ts';

describe('readNvdRecord', () => {
  it('reads what a record says: English text, best score first, links, ranges', () => {
    expect(readNvdRecord(nvdRecord('CVE-2026-12345'))).toEqual({
      id: 'CVE-2026-12345',
      title: null,
      description: 'An overflow in httpd.',
      published: '2025-12-01T00:00:00.000Z',
      modified: '2026-01-02T03:04:05.678Z',
      cvss: [
        { version: '3.1', score: 9.8, vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' },
        { version: '3.1', score: 3.7, vector: 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:L/I:N/A:N' },
        { version: '2.0', score: 7.5, vector: 'AV:N/AC:L/Au:N/C:P/I:P/A:P' },
      ],
      cwe: ['CWE-787'],
      references: ['https://acme.example/advisory'],
      configurations: [
        {
          operator: 'OR',
          negate: false,
          nodes: [
            {
              operator: 'OR',
              negate: false,
              matches: [
                {
                  vulnerable: true,
                  cpe: 'cpe:2.3:a:acme:httpd:*:*:*:*:*:*:*:*',
                  startIncluding: '2.0',
                  startExcluding: null,
                  endIncluding: null,
                  endExcluding: '2.4.1',
                },
              ],
            },
          ],
        },
      ],
      rejected: false,
      source: 'nvd',
    });
  });

  it('keeps AND, negation and what only has to run beside', () => {
    const record = {
      ...nvdRecord('CVE-2026-1000'),
      configurations: [
        {
          operator: 'AND',
          negate: true,
          nodes: [
            {
              operator: 'OR',
              negate: false,
              cpeMatch: [{ vulnerable: true, criteria: cpe('router_firmware') }],
            },
            { operator: 'OR', negate: true, cpeMatch: [{ vulnerable: false, criteria: cpe('router') }] },
          ],
        },
      ],
    };
    const [configuration] = readNvdRecord(record).configurations;
    expect(configuration).toMatchObject({ operator: 'AND', negate: true });
    expect(configuration?.nodes.map(({ negate, matches }) => [negate, matches[0]?.vulnerable])).toEqual([
      [false, true],
      [true, false],
    ]);
  });

  it('reads what was withdrawn, what nobody has analysed, and an override', () => {
    expect(readNvdRecord(nvdRecord('CVE-2026-1000', { status: 'Rejected' })).rejected).toBe(true);
    const { configurations: _, metrics: __, ...bare } = nvdRecord('CVE-2026-1000', { status: 'Received' });
    expect(readNvdRecord(bare)).toMatchObject({ configurations: [], cvss: [], rejected: false });
    const { configurations, descriptions } = nvdRecord('CVE-2026-1000');
    const override = {
      id: 'CVE-2026-1000',
      descriptions,
      configurations,
      annotation: { reason: 'none yet' },
    };
    expect(readNvdRecord(override)).toMatchObject({
      source: 'overrides',
      modified: '1970-01-01T00:00:00.000Z',
    });
  });

  it.each([
    ['no object', 'text', /cve must be an object/],
    ['no id', { ...nvdRecord('x') }, /id must be a CVE id/],
    ['a bad date', nvdRecord('CVE-2026-1000', { modified: 'yesterday' }), /lastModified must be a date/],
    [
      'a bad CPE',
      withMatch({ criteria: 'cpe:/a:acme:httpd' }),
      /cpeMatch\[0\]\.criteria must be a CPE 2\.3 name/,
    ],
    ['an odd bound', withMatch({ versionEndIncluding: 7 }), /versionEndIncluding must be text/],
    ['a bound that is too long', withMatch({ versionEndIncluding: '1'.repeat(200) }), /longer than/],
    [
      'an odd operator',
      {
        ...nvdRecord('CVE-2026-1000'),
        configurations: [{ operator: 'XOR', nodes: [{ cpeMatch: [{ criteria: cpe('x') }] }] }],
      },
      /operator must be AND or OR/,
    ],
    [
      'children of version 1.1',
      { ...nvdRecord('CVE-2026-1000'), configurations: [{ nodes: [{ children: [{}] }] }] },
      /belongs to NVD JSON 1.1/,
    ],
    ['a list that is none', { ...nvdRecord('CVE-2026-1000'), references: {} }, /references must be a list/],
    [
      'a score beyond',
      {
        ...nvdRecord('CVE-2026-1000'),
        metrics: { cvssMetricV31: [{ cvssData: { version: '3.1', vectorString: 'x', baseScore: 11 } }] },
      },
      /baseScore must be a number from 0 to 10/,
    ],
    [
      'too many matches',
      {
        ...nvdRecord('CVE-2026-1000'),
        configurations: [{ nodes: [{ cpeMatch: Array.from({ length: 50_001 }, () => ({})) }] }],
      },
      /has 50001 entries/,
    ],
  ])('refuses a record with %s', (_, record, reason) => {
    expect(() => readNvdRecord(record)).toThrow(reason);
  });
});

function cpe(product: string): string {
  return `cpe:2.3:o:acme:${product}:*:*:*:*:*:*:*:*`;
}

function withMatch(change: object) {
  const record = nvdRecord('CVE-2026-1000');
  Object.assign(record.configurations[0]?.nodes[0]?.cpeMatch[0] ?? {}, change);
  return record;
}
