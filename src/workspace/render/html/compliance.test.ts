import { describe, expect, it } from 'vitest';
import { compliance, head, host, port, stream, summary, text } from '../../../../test/result-rows.ts';
import type { ResultRow } from '../../../domain/result.ts';
import { renderCsv } from '../csv.ts';
import { renderJson } from '../json.ts';
import { renderJsonl } from '../jsonl.ts';
import { renderNmapXml } from '../nmap-xml.ts';
import { renderHtml } from './html.ts';

const broken = compliance('3.10', {
  port: 23,
  description: 'Telnet is reachable',
  finding_ids: ['telnet-cleartext'],
});
const kept = compliance('4.8', {
  status: 'pass',
  severity: null,
  port: null,
  description: 'nothing was found',
});
const untold = compliance('7.7', {
  status: 'not_assessed',
  severity: null,
  host: null,
  port: null,
  description: 'no cve_matcher',
});
const rows: ResultRow[] = [broken, kept, untold, host, port(23)];

describe('what was judged by frameworks', () => {
  it('is a list of its own in JSON', async () => {
    const data = JSON.parse(await text(renderJson(head, stream(rows))));
    expect(data.compliance).toEqual(
      [broken, kept, untold].map(({ type: _type, timestamp: _timestamp, ...fields }) => fields),
    );
    expect(data.results).toHaveLength(1);
    expect(JSON.parse(await text(renderJson(head, stream(rows), true)))).toEqual(data);
  });

  it('is a line each in JSONL, and is not in CSV and XML', async () => {
    const lines = (await text(renderJsonl(stream(rows), summary))).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).type)).toEqual([
      'compliance',
      'compliance',
      'compliance',
      'host',
      'port',
      'summary',
    ]);
    expect((await text(renderCsv(stream(rows)))).trimEnd().split('\r\n')).toHaveLength(2);
    expect(await text(renderNmapXml(head, stream(rows)))).not.toContain('Telnet is reachable');
  });

  it('is a table in the report, with the counts and where it is broken', async () => {
    const page = await text(renderHtml(head, () => stream(rows)));
    const section = page.slice(page.indexOf('id="compliance"'), page.indexOf('id="hosts"'));
    expect(section).toContain('CIS 3.10');
    expect(section).toContain('<li>192.168.1.10, port 23: Telnet is reachable</li>');
    expect(section).toContain('<td class="num">1</td><td class="num">0</td><td class="num">0</td>');
    expect(section).toContain('no cve_matcher');
    expect(await text(renderHtml(head, () => stream([host])))).not.toContain('id="compliance"');
  });

  it('T-020 shows hostile text as text', async () => {
    const bait = '<script>alert(1)</script>';
    const hostile = compliance(bait, { framework: bait, title: bait, description: bait, host: bait });
    expect(await text(renderHtml(head, () => stream([hostile])))).not.toContain('<script');
  });
});
