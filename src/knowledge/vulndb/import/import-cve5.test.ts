import { describe, expect, it } from 'vitest';
import { cve5Record } from '../fixtures/feeds.ts';
import { readCve5Record } from './import-cve5.ts';

const httpd = { vendor: 'Acme Corp', product: 'HTTP Server' };

/** Short form of the range that one version statement is converted to. */
function rangesOf(version: object, product: object = httpd): string[] {
  const record = readCve5Record(
    cve5Record('CVE-2025-1000', { affected: [{ ...product, versions: [version] }] }),
  );
  return record.configurations.flatMap(({ nodes }) =>
    nodes.flatMap(({ matches }) =>
      matches.map(({ cpe, startIncluding, startExcluding, endIncluding, endExcluding }) =>
        [
          cpe.split(':')[5],
          startIncluding && `>=${startIncluding}`,
          startExcluding && `>${startExcluding}`,
          endIncluding && `<=${endIncluding}`,
          endExcluding && `<${endExcluding}`,
        ]
          .filter(Boolean)
          .join(' '),
      ),
    ),
  );
}

describe('readCve5Record', () => {
  it('puts the containers of the CNA and of others together', () => {
    const vector = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H';
    const record = readCve5Record(
      cve5Record(
        'CVE-2025-1000',
        {
          affected: [{ ...httpd, versions: [{ status: 'affected', version: '1.0' }] }],
          problemTypes: [{ descriptions: [{ lang: 'en', type: 'CWE', cweId: 'CWE-79' }] }],
          references: [{ url: 'https://acme.example/1' }],
        },
        [
          {
            metrics: [
              { other: { type: 'ssvc' } },
              { cvssV3_1: { version: '3.1', baseScore: 9.8, vectorString: vector } },
            ],
            problemTypes: [{ descriptions: [{ cweId: 'CWE-787' }] }],
            references: [{ url: 'https://acme.example/1' }, { url: 'ftp://acme.example/2' }],
          },
        ],
      ),
    );
    expect(record).toMatchObject({
      id: 'CVE-2025-1000',
      title: 'Overflow in httpd',
      description: 'An overflow.',
      published: '2025-11-01T10:00:00.000Z',
      modified: '2025-11-02T10:00:00.000Z',
      cvss: [{ version: '3.1', score: 9.8, vector }],
      cwe: ['CWE-79', 'CWE-787'],
      references: ['https://acme.example/1'],
      rejected: false,
      source: 'cve5',
    });
    expect(record.configurations[0]?.nodes[0]?.matches[0]?.cpe).toBe(
      'cpe:2.3:a:acme_corp:http_server:1.0:*:*:*:*:*:*:*',
    );
  });

  it.each([
    [{ status: 'affected', version: '1.2.3' }, ['1.2.3']],
    [{ status: 'affected', version: 'v1.2.3' }, ['1.2.3']],
    [{ status: 'affected', version: '*' }, ['*']],
    [{ status: 'affected', version: '2.4', lessThanOrEqual: '2.4.54' }, ['* >=2.4 <=2.4.54']],
    [{ status: 'affected', version: '0', lessThan: '2.4' }, ['* <2.4']],
    [{ status: 'affected', version: 'unspecified', lessThan: '2.4' }, ['* <2.4']],
    [{ status: 'affected', version: '2.0', lessThan: '*' }, ['* >=2.0']],
    [{ status: 'affected', version: '6.1', lessThanOrEqual: '6.1.*' }, ['* >=6.1 <6.2']],
    [
      {
        status: 'affected',
        version: '5.0',
        lessThan: '6.0',
        changes: [{ at: '5.4.2', status: 'unaffected' }],
      },
      ['* >=5.0 <5.4.2'],
    ],
    [{ status: 'affected', version: '7.2.26 and earlier' }, ['* <=7.2.26']],
    [{ status: 'affected', version: '>= 1.0, < 1.2.3' }, ['* >=1.0 <1.2.3']],
    [{ status: 'affected', version: '< 1.2.3' }, ['* <1.2.3']],
    [{ status: 'unaffected', version: '1.2.3' }, []],
    [{ status: 'affected', version: '665dbc26', versionType: 'git', lessThan: '775dbc26' }, []],
    [{ status: 'affected', version: 'before the summer release' }, []],
    [{ status: 'affected', version: '1.0', lessThan: 'the next one' }, []],
  ])('reads %j', (version, ranges) => {
    expect(rangesOf(version)).toEqual(ranges);
  });

  it('takes CPE names and applicability where they are stated, and no product without a name', () => {
    const cpes = [
      'cpe:2.3:a:acme:httpd:-:*:*:*:*:*:*:*',
      'cpe:2.3:a:acme:httpd:1.0:*:*:*:*:*:*:*',
      'nonsense',
    ];
    expect(rangesOf({ status: 'affected', version: '0', lessThan: '2' }, { ...httpd, cpes })).toEqual([
      '* <2',
    ]);
    expect(rangesOf({ status: 'affected', version: '1' }, { vendor: 'n/a', product: 'n/a' })).toEqual([]);
    const criteria = 'cpe:2.3:a:acme:httpd:*:*:*:*:*:*:*:*';
    const stated = [
      { nodes: [{ operator: 'OR', cpeMatch: [{ vulnerable: true, criteria, versionEndExcluding: '3' }] }] },
    ];
    const record = cve5Record(
      'CVE-2025-1000',
      { affected: [{ ...httpd, versions: [{ status: 'affected', version: '1' }] }] },
      [{ cpeApplicability: stated }],
    );
    expect(readCve5Record(record).configurations).toMatchObject([
      { nodes: [{ matches: [{ endExcluding: '3' }] }] },
    ]);
  });

  it('knows what was withdrawn', () => {
    const record = cve5Record('CVE-2025-1000', {
      descriptions: undefined,
      rejectedReasons: [{ lang: 'en', value: 'Twice.' }],
    });
    Object.assign(record.cveMetadata, { state: 'REJECTED' });
    expect(readCve5Record(record)).toMatchObject({
      rejected: true,
      description: 'Twice.',
      configurations: [],
    });
  });

  it.each([
    [{}, /cveMetadata must be an object/],
    [{ ...cve5Record('CVE-1', {}) }, /cveId must be a CVE id/],
    [{ ...cve5Record('CVE-2025-1000', {}), containers: { cna: [] } }, /containers.cna must be an object/],
    [cve5Record('CVE-2025-1000', { affected: 'all' }), /affected must be a list/],
    [
      cve5Record('CVE-2025-1000', { affected: [{ ...httpd, versions: [7] }] }),
      /versions\[0\] must be an object/,
    ],
  ])('refuses %#', (record, reason) => {
    expect(() => readCve5Record(record)).toThrow(reason);
  });
});
