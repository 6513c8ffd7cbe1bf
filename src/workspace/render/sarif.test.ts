import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText, finding, head, host, hostileRows, port, stream, text } from '../../../test/result-rows.ts';
import type { ResultRow } from '../../domain/result.ts';
import { renderSarif } from './sarif.ts';

interface Log {
  version: string;
  runs: {
    tool: { driver: { name: string; rules: { id: string; helpUri?: string; properties: object }[] } };
    invocations: { executionSuccessful: boolean; toolExecutionNotifications: { level: string }[] }[];
    results: {
      ruleId: string;
      level: string;
      rank?: number;
      message: { text: string };
      locations: {
        physicalLocation: { artifactLocation: { uri: string } };
        logicalLocations: { fullyQualifiedName: string }[];
      }[];
      fingerprints: Record<string, string>;
      properties: Record<string, unknown>;
    }[];
  }[];
}

async function sarif(rows: ResultRow[], more: Partial<typeof head> = {}) {
  const log = JSON.parse(await text(renderSarif({ ...head, ...more }, stream(rows)))) as Log;
  return { log, run: log.runs[0] as Log['runs'][0] };
}

describe('SARIF', () => {
  it('has the required members, a rule for each id and a result for each finding', async () => {
    const cvss = { version: '3.1', score: 9.8, vector: 'CVSS:3.1/AV:N' };
    const references = ['not an address', 'https://example.org/CVE-1'];
    const { log, run } = await sarif([
      {
        type: 'error',
        timestamp: head.timestamp,
        host: null,
        target: 'x',
        code: 'c',
        message: 'm',
        node: null,
      },
      host,
      port(22),
      finding(22, 'CVE-1', 'critical', { cvss, references }),
      port(80),
      finding(80, 'CVE-1', 'critical', { cvss, references }),
      finding(80, 'header-missing', 'low'),
      { ...finding(null, 'host-check', 'medium'), host: 'fe80::1%eth0' },
      { ...finding(53, 'open-recursion', 'info'), host: '2001:db8::1', protocol: 'udp' },
    ]);
    expect(log.version).toBe('2.1.0');
    expect(run.tool.driver.name).toBe('Portolan');
    expect(run.tool.driver.rules.map(({ id }) => id)).toEqual([
      'CVE-1',
      'header-missing',
      'host-check',
      'open-recursion',
    ]);
    expect(run.tool.driver.rules[0]).toMatchObject({
      helpUri: 'https://example.org/CVE-1',
      properties: { 'security-severity': '9.8' },
    });
    expect(run.results.map(({ ruleId, level }) => [ruleId, level])).toEqual([
      ['CVE-1', 'error'],
      ['CVE-1', 'error'],
      ['header-missing', 'note'],
      ['host-check', 'warning'],
      ['open-recursion', 'note'],
    ]);
    expect(run.results[0]).toMatchObject({
      message: { text: 'Title of CVE-1 on 192.168.1.10:22/tcp (likely)' },
      properties: { class: 'likely' },
    });
    expect(run.results.map(({ locations }) => locations[0]?.physicalLocation.artifactLocation.uri)).toEqual([
      'tcp://192.168.1.10:22',
      'tcp://192.168.1.10:80',
      'tcp://192.168.1.10:80',
      'ip://[fe80::1%25eth0]',
      'udp://[2001:db8::1]:53',
    ]);
    expect(new Set(run.results.map(({ fingerprints }) => fingerprints['portolan/v1'])).size).toBe(5);
    expect(run.results[0]).toMatchObject({ rank: 98, properties: { cvss, kev: false, references } });
    expect(run.invocations).toMatchObject([
      {
        executionSuccessful: true,
        toolExecutionNotifications: [{ level: 'error', message: { text: 'x: m' } }],
      },
    ]);
  });

  it('of nothing is a whole document, and a partial scan is no success', async () => {
    const { run } = await sarif([], {
      partial: true,
      status: 'running',
      warnings: [{ code: 'w', message: 'm' }],
    });
    expect(run.results).toEqual([]);
    expect(run.invocations).toMatchObject([
      { executionSuccessful: false, toolExecutionNotifications: [{ level: 'warning' }] },
    ]);
  });

  it('parses for any text of a target and keeps it', async () => {
    await fc.assert(
      fc.asyncProperty(anyText(), async (said) => {
        const { run } = await sarif(hostileRows(said));
        expect(run.results[0]?.properties['evidence']).toBe(said.toWellFormed());
      }),
    );
  });
});
