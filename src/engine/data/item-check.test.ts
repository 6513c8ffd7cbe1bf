import { describe, expect, it } from 'vitest';
import { parseTargets } from '../../domain/targets/target.ts';
import { ItemCheck } from './item-check.ts';
import { maxItemBytes } from './item-shape.ts';

const host = '192.0.2.7';
const finding = { host, port: 80, id: 'x-1', title: 'A title', severity: 'high' };

function newCheck() {
  const warnings: string[] = [];
  const { addresses } = parseTargets(['192.0.2.0/28', '2001:db8::1']);
  const warn = (code: string, message: string) => void warnings.push(`${code}: ${message}`);
  return { warnings, check: new ItemCheck({ module: 'my_plugin', addresses, warn }) };
}

const accepted = (key: string, item: unknown) => newCheck().check.accept(key, [item]);

/** An object nested so deep. */
const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });

describe('what a plugin publishes', () => {
  it.each([
    ['discovered_hosts', { ip: host }, { ip: host, latency_ms: null, method: 'my_plugin' }],
    ['open_ports', { host, port: 22 }, { host, port: 22, protocol: 'tcp', state: 'open', reason: 'plugin' }],
    [
      'banners',
      { host, port: 22, banner: 'SSH' },
      {
        host,
        port: 22,
        protocol: 'tcp',
        banner: 'SSH',
        probe: 'my_plugin',
        truncated: false,
        partial: false,
      },
    ],
    [
      'parsed_services',
      { host, port: 22, service: 'ssh' },
      {
        host,
        port: 22,
        protocol: 'tcp',
        service: 'ssh',
        parser: 'my_plugin',
        attributes: {},
        truncated: false,
      },
    ],
    [
      'compliance_violations',
      { host, framework: 'cis', control: '3.10' },
      { host, port: null, severity: 'medium', title: '', description: '', finding_ids: [] },
    ],
    ['asset_profiles', { host, os: { family: 'linux' } }, { os: { family: 'linux', version: null } }],
    ['compliance_controls', { framework: 'cis', control: '1', status: 'pass' }, { host: null, reason: '' }],
    ['service_fingerprints', { host, port: 22, match: 'ssh' }, { source: 'my_plugin', alternatives: [] }],
    ['port_counts', { host, open: 1, closed: 2, filtered: 0 }, { protocol: 'tcp', not_tried: 0 }],
  ])('under %s is completed', (key, item, complete) => {
    expect(accepted(key, structuredClone(item))).toMatchObject([complete]);
  });

  it('as a finding needs an id, a title, a severity and a host', () => {
    expect(accepted('vulnerabilities', { ...finding, plugin: 'cve_matcher' })).toEqual([
      {
        ...finding,
        protocol: 'tcp',
        plugin: 'my_plugin',
        cvss: null,
        kev: false,
        epss: null,
        cpe: null,
        affected: null,
        detected: null,
        confidence: 0.5,
        backport_note: null,
        class: 'likely',
        evidence: '',
        remediation: '',
        references: [],
      },
    ]);
    const [ofHost] = accepted('vulnerabilities', { ...finding, port: undefined, confidence: 1 });
    expect(ofHost).toMatchObject({ port: null, protocol: null, class: 'certain' });
  });

  it.each([
    ['vulnerabilities', { ...finding, severity: 'severe' }, 'bad "severity": it must be equal to one of'],
    ['vulnerabilities', { ...finding, title: undefined }, 'has no "title"'],
    ['vulnerabilities', { ...finding, id: 'x'.repeat(300) }, 'bad "id"'],
    ['vulnerabilities', { ...finding, confidence: 2 }, 'bad "confidence"'],
    ['vulnerabilities', { ...finding, cvss: { score: '9' } }, 'bad "cvss.score"'],
    ['vulnerabilities', { ...finding, action: 'Update it' }, 'bad "action"'],
    ['vulnerabilities', { ...finding, action: { text: 'x'.repeat(121) } }, 'bad "action.text"'],
    ['vulnerabilities', { ...finding, action: { text: 'x', key: '' } }, 'bad "action.key"'],
    ['vulnerabilities', { ...finding, action: { key: 'x' } }, 'has no "text" in "action"'],
    ['vulnerabilities', { ...finding, fixed_in: 9.8 }, 'bad "fixed_in"'],
    ['vulnerabilities', { ...finding, affected_from: 'x'.repeat(257) }, 'bad "affected_from"'],
    ['vulnerabilities', { ...finding, cvss: {} }, 'has no "score" in "cvss"'],
    ['vulnerabilities', { ...finding, references: ['a', 1] }, 'bad "references.1"'],
    ['vulnerabilities', { ...finding, evidence: JSON.parse('1e999') }, 'not finite'],
    ['vulnerabilities', { ...finding, host: 'localhost' }, 'a host that is not an IP address'],
    ['open_ports', { host, port: '22' }, 'bad "port"'],
    ['open_ports', { host, port: 65_536 }, 'bad "port"'],
    ['open_ports', [host, 22], 'is not an object'],
    ['open_ports', null, 'is not an object'],
    ['parsed_services', { host, port: 1, service: 'x', attributes: nested(20) }, 'nested deeper than 16'],
    [
      'parsed_services',
      { host, port: 1, service: 'x', attributes: JSON.parse('{"__proto__":{}}') },
      '__proto__',
    ],
    ['banners', { host, port: 1, banner: 'x'.repeat(maxItemBytes) }, 'is larger than 1024 KiB'],
    ['my_key', 'x'.repeat(maxItemBytes + 1), 'is larger than 1024 KiB'],
    ['my_key', { big: 1n }, 'has a bigint'],
    ['my_key', new Map(), 'has an object that is not JSON'],
    ['my_key', { a: [[Number.NaN]] }, 'not finite'],
  ])('under %s is rejected: case %#', (key, item, reason) => {
    expect(() => accepted(key, item)).toThrow(reason);
  });

  it('under vulnerabilities may name what removes the finding', () => {
    const versions = { affected_from: '8.5', fixed_in: null };
    const [named] = accepted('vulnerabilities', { ...finding, ...versions, action: { text: 'Update It' } });
    const action = { key: 'update it', text: 'Update It', update: false };
    expect(named).toMatchObject({ ...versions, action });
    const given = { key: 'update a:b', text: 'Update B', update: true };
    const [kept] = accepted('vulnerabilities', { ...finding, action: given });
    expect(kept).toMatchObject({ action: given });
  });

  it('has the key, the position among all items and the reason in the error', () => {
    const { check } = newCheck();
    check.accept('vulnerabilities', [{ ...finding }, { ...finding }]);
    const items = [{ ...finding }, { ...finding, severity: 'x' }];
    expect(() => check.accept('vulnerabilities', items)).toThrow(
      'item 3 of "vulnerabilities" has a bad "severity": it must be equal to one of the allowed values: critical, high',
    );
  });

  it('about a host outside the scan is dropped with one warning', () => {
    const { check, warnings } = newCheck();
    const items = [finding, { ...finding, host: '192.0.2.16' }, { ...finding, host: '8.8.8.8' }];
    expect(check.accept('vulnerabilities', structuredClone(items))).toMatchObject([{ host }]);
    expect(check.accept('discovered_hosts', [{ ip: '10.0.0.1' }])).toEqual([]);
    expect(check.accept('my_key', [{ host: '10.0.0.1' }, { host: 'a name' }, 3])).toEqual([
      { host: 'a name' },
      3,
    ]);
    expect(new Set(warnings.map((warning) => warning.split(':')[0]))).toEqual(
      new Set(['result_out_of_scope']),
    );
  });

  it('has its address in the form that the record uses', () => {
    expect(accepted('open_ports', { host: '2001:DB8:0::1', port: 1 })).toMatchObject([
      { host: '2001:db8::1' },
    ]);
  });

  it('loses unknown fields, nested ones too, with a warning', () => {
    const { check, warnings } = newCheck();
    const item = { ...finding, sevrity: 'x', producer: { name: 'else' }, cvss: { score: 1, extra: 2 } };
    const [kept] = check.accept('vulnerabilities', [item]);
    expect(kept).toMatchObject({ cvss: { version: '3.1', score: 1, vector: '' } });
    expect(Object.keys(kept as object)).not.toContain('producer');
    expect((kept as { cvss: object }).cvss).not.toHaveProperty('extra');
    expect(warnings[0]).toContain('such as "sevrity": dropped');
  });

  it('keeps control characters: every output escapes them', () => {
    expect(accepted('vulnerabilities', { ...finding, title: 'a\u001b[2J' })).toMatchObject([
      { title: 'a\u001b[2J' },
    ]);
  });
});
