import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../domain/finding.ts';
import { findingRow } from '../../fixtures/report-of-rows.ts';
import { readFinding } from './seen-finding.ts';
import { SeenVersions, UpdateTarget } from './seen-versions.ts';

const openssh = 'cpe:2.3:a:openbsd:openssh:*:*:*:*:*:*:*:*';
const read = (more: Partial<Finding>) => readFinding(findingRow('10.0.0.1', 22, 'CVE-1', more), null);

describe('the versions of a kind', () => {
  it('ascend by the rules of the product, and count each host once', () => {
    const versions = new SeenVersions();
    const seen: [string | null, number][] = [
      ['9.2p1', 1],
      ['9.2p1', 1],
      ['8.10p1', 2],
      ['odd', 2],
      ['8.9p1', 3],
      ['9.2p1', 4],
      [null, 5],
    ];
    for (const [detected, host] of seen)
      versions.add(read({ detected, cpe: openssh, affected_from: '8.5p1', fixed_in: '9.8p1' }), host);
    expect(versions.range()).toEqual({
      from: '8.5p1',
      fixed: '9.8p1',
      seen: [
        { version: '8.9p1', hosts: 1 },
        { version: '8.10p1', hosts: 1 },
        { version: '9.2p1', hosts: 2 },
        { version: 'odd', hosts: 1 },
      ],
    });
  });

  it('have no range where none is known, and where findings differ', () => {
    const none = new SeenVersions();
    none.add(read({ detected: '1.0' }), 1);
    expect(none.range()).toBeNull();
    const several = new SeenVersions();
    several.add(read({ affected_from: '1.0', fixed_in: '1.2' }), 1);
    several.add(read({ affected_from: '2.0', fixed_in: '2.2' }), 2);
    expect(several.range()).toBeNull();
  });
});

describe('the version that an update has to reach', () => {
  const target = (...findings: Partial<Finding>[]) => {
    const versions = new UpdateTarget();
    for (const more of findings) versions.add(read({ cpe: openssh, ...more }));
    return versions.text;
  };
  const fixed = (...versions: (string | null)[]) => target(...versions.map((fixed_in) => ({ fixed_in })));

  it.each([
    [['9.8p1', '8.10p1', '9.3p2'], '9.8p1'],
    [['9.8p1', null], '9.8p1 or later'],
    [[null], ''],
    [['the latest'], ''],
    [['9.8p1', 'the latest'], ''],
    [[], ''],
  ])('of fixed versions %j is %j', (versions, text) => {
    expect(fixed(...versions)).toBe(text);
  });

  it.each([
    ['>= 8.5p1, <= 9.3p1', '9.8p1'],
    ['9.3p1', '9.8p1'],
    ['>= 8.5p1, <= 9.8p1', 'a version after 9.8p1'],
    ['<= 9.9', 'a version after 9.9'],
    ['>= 8.5p1', '9.8p1 or later'],
    ['all versions', '9.8p1 or later'],
    ['<= odd', '9.8p1 or later'],
  ])('of a fixed version, and another finding that affects %j, is %j', (affected, text) => {
    expect(target({ fixed_in: '9.8p1', affected: '< 9.8p1' }, { affected })).toBe(text);
  });

  it('is after the last affected one where no fixed one is known', () => {
    expect(target({ affected: '>= 1.9.5, <= 1.25.2' }, { affected: '1.9.6' })).toBe('a version after 1.25.2');
    expect(target({ affected: '<= 1.25.2' }, { affected: null })).toBe('');
  });
});
