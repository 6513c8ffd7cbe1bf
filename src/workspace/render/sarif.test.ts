import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText, finding, head, host, hostileRows, port, stream, text } from '../../../test/result-rows.ts';
import type { ResultRow } from '../../domain/result.ts';
import { renderSarif } from './sarif.ts';

interface Rule {
  id: string;
  shortDescription: { text: string };
  fullDescription: { text: string };
  help: { text: string };
  helpUri?: string;
  defaultConfiguration: { level: string };
  properties: { tags: string[]; 'security-severity'?: string };
}

interface Log {
  $schema: string;
  version: string;
  runs: {
    tool: { driver: { name: string; version: string; informationUri: string; rules: Rule[] } };
    automationDetails?: object;
    invocations: { executionSuccessful: boolean; toolExecutionNotifications: { level: string }[] }[];
    results: {
      ruleId: string;
      level: string;
      rank?: number;
      message: { text: string };
      locations: {
        physicalLocation: { artifactLocation: { uri: string }; region: Record<string, number> };
        logicalLocations: { fullyQualifiedName: string }[];
      }[];
      fingerprints: Record<string, string>;
      partialFingerprints: { primaryLocationLineHash: string };
      properties: Record<string, unknown>;
    }[];
  }[];
}

async function sarif(rows: ResultRow[], more: Partial<typeof head> = {}) {
  const log = JSON.parse(await text(renderSarif({ ...head, ...more }, stream(rows)))) as Log;
  return { log, run: log.runs[0] as Log['runs'][0] };
}

/** Relative, without a scheme: what RFC 3986 calls path-noscheme, with the characters that its segments may have. */
const relativePath = /^[\w.~!$&'()*+,;=@-]+(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[0-9A-F]{2})+)*$/;

/**
 * The properties that GitHub code scanning requires of an upload, and their limits ("SARIF support for code scanning" in
 * its documentation): none is absent or empty, locations are relative to a repository.
 */
function gitHubFaults({ $schema, version, runs }: Log): string[] {
  const faults: string[] = [];
  const require = (holds: boolean, what: string) => holds || faults.push(what);
  const isText = (text: unknown, limit = Number.POSITIVE_INFINITY) =>
    typeof text === 'string' && text.trim() !== '' && text.length <= limit;
  require(isText($schema) && version === '2.1.0', 'schema and version');
  require(runs.length >= 1 && runs.length <= 20, 'runs');
  for (const { tool, results } of runs) {
    const { name, rules } = tool.driver;
    require(isText(name), 'tool.driver.name');
    require(URL.canParse(tool.driver.informationUri), 'tool.driver.informationUri');
    require(rules.length <= 25_000, 'rules');
    for (const rule of rules) {
      const { id, shortDescription, fullDescription, help, helpUri, properties } = rule;
      require(isText(id), 'rule id');
      require(isText(shortDescription?.text, 1024), `shortDescription of ${id}`);
      require(isText(fullDescription?.text, 1024), `fullDescription of ${id}`);
      require(isText(help?.text), `help of ${id}`);
      require(helpUri === undefined || URL.canParse(helpUri), `helpUri of ${id}`);
      require(['note', 'warning', 'error'].includes(rule.defaultConfiguration.level), `level of ${id}`);
      const { tags, 'security-severity': score } = properties;
      require(tags.length <= 10 && tags.includes('security'), `tags of ${id}`);
      const isScore =
        score === undefined || (/^\d+\.\d$/.test(score) && Number(score) > 0 && Number(score) <= 10);
      require(isScore, `security-severity of ${id}`);
    }
    for (const { ruleId, message, locations, partialFingerprints } of results) {
      require(rules.some(({ id }) => id === ruleId), `rule of ${ruleId}`);
      require(isText(message.text), `message of ${ruleId}`);
      require(locations.length === 1, `locations of ${ruleId}`);
      const { artifactLocation, region } = locations[0]?.physicalLocation ?? {};
      require(relativePath.test(
        artifactLocation?.uri ?? '',
      ), `location of ${ruleId}: ${artifactLocation?.uri}`);
      for (const edge of ['startLine', 'startColumn', 'endLine', 'endColumn'])
        require((region?.[edge] ?? 0) >= 1, `${edge} of ${ruleId}`);
      require(isText(partialFingerprints?.primaryLocationLineHash), `partialFingerprints of ${ruleId}`);
    }
  }
  return faults;
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
      'host-check',
      'header-missing',
      'open-recursion',
    ]);
    expect(run.tool.driver.rules[0]).toMatchObject({
      helpUri: 'https://example.org/CVE-1',
      properties: { 'security-severity': '9.8' },
    });
    expect(gitHubFaults(log)).toEqual([]);
    expect(run.results.map(({ ruleId, level }) => [ruleId, level])).toEqual([
      ['CVE-1', 'error'],
      ['CVE-1', 'error'],
      ['host-check', 'warning'],
      ['header-missing', 'note'],
      ['open-recursion', 'note'],
    ]);
    expect(run.results[0]).toMatchObject({
      message: { text: 'Title of CVE-1 on 192.168.1.10:22/tcp (likely)' },
      properties: { class: 'likely' },
    });
    expect(run.results.map(({ locations }) => locations[0]?.physicalLocation.artifactLocation.uri)).toEqual([
      'hosts/192.168.1.10/tcp/22',
      'hosts/192.168.1.10/tcp/80',
      'hosts/fe80::1%25eth0',
      'hosts/192.168.1.10/tcp/80',
      'hosts/2001:db8::1/udp/53',
    ]);
    expect(new Set(run.results.map(({ fingerprints }) => fingerprints['portolan/v1'])).size).toBe(5);
    expect(run.results[0]).toMatchObject({ properties: { cvss, kev: false, references } });
    const ranks = run.results.map(({ rank }) => rank ?? -1);
    expect(ranks).toEqual(ranks.toSorted((a, b) => b - a));
    expect(ranks[0]).toBe(ranks[1]);
    expect(run.invocations).toMatchObject([
      {
        executionSuccessful: true,
        toolExecutionNotifications: [{ level: 'error', message: { text: 'x: m' } }],
      },
    ]);
  });

  it('describes a rule by the most severe of its findings, whatever their order', async () => {
    const cvss = { version: '3.1', score: 7.5, vector: 'CVSS:3.1/AV:N' };
    const rows = [
      finding(22, 'id', 'info'),
      finding(80, 'id', 'low', { title: 'Worst', affected: 'nginx < 1.2', cvss, remediation: 'Update it.' }),
      finding(443, 'id', 'medium'),
    ];
    const rules = await Promise.all(
      [rows, rows.toReversed()].map(async (each) => (await sarif(each)).run.tool.driver.rules),
    );
    expect(rules[0]).toEqual(rules[1]);
    expect(rules[0]).toMatchObject([
      {
        shortDescription: { text: 'Worst' },
        fullDescription: { text: 'Worst. Affected: nginx < 1.2' },
        help: { text: 'Update it.' },
        properties: { 'security-severity': '7.5' },
      },
    ]);
  });

  it('scores a finding without CVSS by its severity, and one of information not at all', async () => {
    const each = ['critical', 'high', 'medium', 'low', 'info'] as const;
    const { run } = await sarif(each.map((severity, at) => finding(at + 1, severity, severity)));
    expect(run.tool.driver.rules.map(({ properties }) => properties['security-severity'])).toEqual([
      '9.5',
      '8.0',
      '5.5',
      '2.0',
      undefined,
    ]);
  });

  it('leads to the page of a CVE without references', async () => {
    const { run } = await sarif([
      finding(1, 'CVE-2024-6387'),
      finding(1, 'x'),
      finding(1, 'CVE-2024-6387/../x'),
    ]);
    expect(run.tool.driver.rules.map(({ helpUri }) => helpUri)).toEqual([
      'https://nvd.nist.gov/vuln/detail/CVE-2024-6387',
      undefined,
      undefined,
    ]);
  });

  it('gives a finding the same fingerprint in every scan', async () => {
    const cvss = { version: '3.1', score: 5, vector: 'CVSS:3.1/AV:N' };
    const changed = { title: 'Reworded', evidence: 'another', cvss, remediation: 'x' };
    const earlier = await sarif([finding(22, 'id', 'low'), finding(80, 'id', 'low')]);
    const later = await sarif(
      [
        { ...finding(80, 'id', 'critical', changed), timestamp: '2027-01-01T00:00:00.000Z' },
        finding(22, 'other'),
      ],
      { scan_id: '20270101-000000-ffffff', targets: ['192.168.0.0/16'] },
    );
    const marks = ({ run }: typeof earlier) =>
      run.results.map(({ fingerprints, partialFingerprints }) => [
        fingerprints['portolan/v1'],
        partialFingerprints.primaryLocationLineHash,
      ]);
    expect(marks(later)[0]).toEqual(marks(earlier)[1]);
    expect(new Set([...marks(earlier), ...marks(later)].flat()).size).toBe(3);
    // It would take the place of the category that an upload names.
    expect(later.run.automationDetails).toBeUndefined();
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

  it('has what GitHub code scanning requires for any text of a target or plugin', async () => {
    const long = 'x'.repeat(5000);
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyText(), fc.constant(long)), async (said) => {
        const texts = { title: said, affected: said, remediation: said, evidence: said, references: [said] };
        const { log } = await sarif([finding(80, 'id', 'low', texts), finding(null, 'other', 'info', texts)]);
        expect(gitHubFaults(log)).toEqual([]);
      }),
    );
  });
});
