import { describe, expect, it } from 'vitest';
import type { Finding } from './finding.ts';
import { mergeRows } from './merge-rows.ts';
import type { HostRow, PortRow, ResultRow, VulnerabilityRow } from './result.ts';

const timestamp = '2026-01-01T00:00:00.000Z';
const producer = { name: 'one', version: '1.0.0', sha256: 'ab' };

/** Merged in both orders, which must not differ. */
function merged<R extends ResultRow>(builtin: R, ofPlugin: R): R {
  const marked = { ...ofPlugin, producer };
  const result = mergeRows([builtin, marked]);
  expect(mergeRows([marked, builtin])).toEqual(result);
  return result as R;
}

describe('rows of one identity', () => {
  it('are merged field by field, later values that are not null winning', () => {
    const host: HostRow = { type: 'host', timestamp, host: '127.0.0.1', state: 'up' };
    const rows = [
      { ...host, mac: 'a', latency_ms: 1 },
      { ...host, mac: null, latency_ms: 2 },
    ];
    expect(mergeRows(rows)).toEqual({ ...host, mac: 'a', latency_ms: 2 });
    expect(mergeRows([])).toBeNull();
  });

  it('show a builtin finding as it is, whatever a plugin says of it', () => {
    const finding = (severity: string) => {
      const base = {
        type: 'vulnerability',
        timestamp,
        host: '127.0.0.1',
        port: 22,
        protocol: 'tcp',
      } as const;
      const vulnerability = { id: 'a', severity, cvss: null, evidence: severity } as unknown as Finding;
      return { ...base, vulnerability } satisfies VulnerabilityRow;
    };
    expect(merged(finding('critical'), finding('info'))).toEqual(finding('critical'));
  });

  it('of a host take from plugins what builtin modules do not know', () => {
    const host: HostRow = { type: 'host', timestamp, host: '127.0.0.1', state: 'up' };
    const os = { family: 'linux', distribution: null, version: null, confidence: 0.9 };
    const builtin: HostRow = { ...host, os, mac: null, latency_ms: 1, functions: ['web server'] };
    const other = { ...os, family: 'windows', version: '11' };
    const ofPlugin: HostRow = {
      ...host,
      os: other,
      mac: 'm',
      latency_ms: 9,
      functions: ['router', 'web server'],
    };
    expect(merged(builtin, ofPlugin)).toEqual({
      ...builtin,
      mac: 'm',
      functions: ['web server', 'router'],
      producer,
    });
  });

  it('of a port take facts and the surer service from plugins, but never half a banner', () => {
    const port: PortRow = {
      type: 'port',
      timestamp,
      host: '127.0.0.1',
      port: 22,
      protocol: 'tcp',
      state: 'open',
      reason: 'syn-ack',
    };
    const claim = {
      match: 'ssh',
      product: null,
      vendor: null,
      version: null,
      cpe: null,
      source: 'banner',
      evidence: '',
    };
    const service = { name: 'ssh', product: null, vendor: null, version: null, cpe: null };
    const builtin: PortRow = {
      ...port,
      banner: 'SSH-2.0-x',
      banner_b64: null,
      tls: { version: 'TLSv1.3', alpn: null },
      service: { ...service, confidence: 0.9 },
      fingerprints: [{ ...claim, confidence: 0.9 }],
      attributes: { ssh: { software: 'x', note: null } },
    };
    const ofPlugin: PortRow = {
      ...port,
      state: 'open|filtered',
      banner: 'other',
      banner_b64: 'b3RoZXI=',
      unidentified_reason: 'timeout',
      tls: { version: 'SSLv2', alpn: 'h2' },
      service: { ...service, name: 'telnet', confidence: 1 },
      fingerprints: [{ ...claim, match: 'telnet', confidence: 1 }],
      attributes: { ssh: { software: 'y', note: 'n' }, telnet: { a: 1 } },
    };
    expect(merged(builtin, ofPlugin)).toEqual({
      ...builtin,
      tls: { version: 'TLSv1.3', alpn: 'h2' },
      service: ofPlugin.service,
      fingerprints: [ofPlugin.fingerprints?.[0], builtin.fingerprints?.[0]],
      attributes: { ssh: { software: 'x', note: 'n' }, telnet: { a: 1 } },
      producer,
    });
    const silent = { ...port, banner: '' };
    expect(merged(silent, ofPlugin)).toMatchObject({ banner: 'other', banner_b64: 'b3RoZXI=' });
    const unsure = { ...ofPlugin, service: { ...service, confidence: 0.9 } };
    expect(merged(builtin, unsure).service).toEqual(builtin.service);
  });

  it('take names of facts as data', () => {
    const port: PortRow = {
      type: 'port',
      timestamp,
      host: 'h',
      port: 1,
      protocol: 'tcp',
      state: 'open',
      reason: 'x',
    };
    const attributes = JSON.parse('{"__proto__": {"polluted": 1}}') as object;
    const row = merged({ ...port, attributes: { ssh: {} } }, { ...port, attributes: { ...attributes } });
    expect(Object.keys(row.attributes ?? {})).toEqual(['ssh', '__proto__']);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});
