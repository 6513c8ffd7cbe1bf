import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reportOfRows, reportOptions } from '../../../test/report-of-rows.ts';
import {
  anyText,
  compliance,
  extra,
  finding,
  head,
  host,
  hostileRows,
  plugin,
  port,
  text,
} from '../../../test/result-rows.ts';
import { htmlFaults } from '../../../test/valid-html.ts';
import type { ErrorRow, ResultRow } from '../../domain/result.ts';
import { type SyntheticScan, syntheticPresets } from '../fixtures/synthetic-scan.ts';
import type { ReportFacts, ReportOptions } from '../report-facts.ts';
import { renderHtml } from './render-html.ts';

/** Whatever is in it, a page is valid HTML. */
async function render(
  rows: readonly ResultRow[],
  facts: Partial<ReportFacts> = {},
  options: Partial<ReportOptions> = {},
): Promise<string> {
  const page = await text(renderHtml(reportOfRows(rows, facts, options)));
  expect(await htmlFaults(page)).toEqual([]);
  return page;
}

const renderScan = (scan: SyntheticScan, options: Partial<ReportOptions> = {}) =>
  text(renderHtml({ facts: scan.facts, options: { ...reportOptions, ...options }, rows: () => scan.rows() }));

/** Elements of the report; targets add none. */
const elements =
  /^\/?(?:html|head|meta|title|style|body|svg|defs|pattern|path|circle|rect|div|nav|main|footer|section|h[1-3]|p|b|i|u|br|small|span|strong|code|pre|mark|ol|ul|li|dl|dt|dd|a|details|summary|table|thead|tbody|tfoot|tr|th|td|input|label)$/;

const tagsOf = (page: string) => [...page.matchAll(/<(\/?[^\s>!]+)/g)].map(([, name]) => name as string);

const hostile = [
  '<script>alert(1)</script>',
  '<svg onload=alert(1)>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</pre></style></title><script>alert(1)</script>',
  '--><script>alert(1)</script>',
  '&lt;script&gt;',
];

/** Scans of all states, few enough rows for a test. */
const scans = ['empty', 'one', 'office', 'fifty', 'hostile', 'canceled'] as const;

function expectLinked(page: string): void {
  const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  const links = [...page.matchAll(/ (?:href="#|for="|aria-labelledby=")([^"]*)"/g)].map(([, id]) => id);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  expect(links.filter((link) => !ids.includes(link))).toEqual([]);
}

const sectionOf = (page: string, id: string) => {
  const from = page.indexOf(`<section id="${id}"`);
  return from === -1 ? '' : page.slice(from, page.indexOf('</section>', from));
};

describe('HTML report', () => {
  it.each(scans)(
    'of the scan %s has elements of its own only, and links that lead somewhere',
    async (name) => {
      const page = await renderScan(syntheticPresets[name]());
      expect(tagsOf(page).filter((tag) => !elements.test(tag))).toEqual([]);
      expect(/<style>(.*?)<\/style>/s.exec(page)?.[1]).not.toMatch(/url\(|@import|</);
      expectLinked(page);
      expect(page.trimEnd()).toMatch(/<\/html>$/);
    },
  );

  it.each(scans)('of the scan %s is valid HTML', async (name) => {
    expect(await htmlFaults(await renderScan(syntheticPresets[name]()))).toEqual([]);
  });

  it('states the counts of the model', async () => {
    const page = await renderScan(syntheticPresets.office());
    const rows = [
      ...sectionOf(page, 'summary').matchAll(/<tr><td><span class="w \w">(\w+)<\/span>.*?<b>(\d+)<\/b>/g),
    ];
    expect(rows.map(([, name, count]) => `${name} ${count}`)).toEqual([
      'Critical 1',
      'High 11',
      'Medium 55',
      'Low 6',
      'Info 14',
    ]);
    expect(page.match(/<details class="li fx/g)).toHaveLength(11);
    expect(page.match(/<details class="li fi/g)).toHaveLength(17);
    expect(page.match(/<details class="li ho/g)).toHaveLength(38);
    expect(page).toContain('<strong>10</strong><b>known exploited</b>');
    expect(page).toContain('<strong>12</strong><b>critical or high, of 87 findings</b>');
  });

  it('leads from an action to its findings and hosts, and back', async () => {
    const page = await renderScan(syntheticPresets.office());
    const action = page.slice(page.indexOf('id="fix-2"'), page.indexOf('id="fix-3"'));
    expect(action).toContain('href="#f-CVE-2023-44487"');
    expect(action).toContain('href="#h-192.168.20.21"');
    const block = page.slice(page.indexOf('id="h-192.168.20.21"'));
    expect(block).toContain('href="#fix-2"');
  });

  it('has hosts with findings first, each part in address order', async () => {
    const page = await renderScan(syntheticPresets.office());
    const places = [...page.matchAll(/--w:(-?\d+);--a:(\d+)/g)].map(([, worst, at]) => ({
      with: worst !== '0',
      at: Number(at),
    }));
    expect(places).toHaveLength(38);
    const expected = [...places].sort((a, b) => Number(b.with) - Number(a.with) || a.at - b.at);
    expect(places).toEqual(expected);
    expect(places[31]).toMatchObject({ with: false });
  });

  it('shows banners, evidence and references of https only as links', async () => {
    const page = await render([
      { ...host, hostnames: ['web-1.example.net'] },
      port(22, { banner: 'SSH-2.0-x\r\n' }),
      finding(22, 'CVE-1', 'critical', {
        evidence: 'SSH-2.0-x',
        remediation: 'Update it.',
        cvss: { version: '3.1', score: 9.8, vector: 'CVSS:3.1/AV:N' },
        kev: true,
        epss: { score: 0.5, percentile: 0.98 },
        references: [
          'https://example.org/a?b=1&c=2',
          'http://example.org/',
          'javascript:alert(1)',
          'see the manual',
        ],
      }),
    ]);
    expect(page).toContain('<td class="wd"><code>SSH-2.0-x</code></td>');
    expect(page).toContain('<pre>SSH-2.0-x</pre>');
    expect(page).toContain(
      'href="https://example.org/a?b=1&amp;c=2" rel="noopener noreferrer">example.org/a?b=1&amp;c=2<',
    );
    expect(page).toContain('http://example.org/<br>javascript:alert(1)<br>see the manual');
    expect([...page.matchAll(/href="(?!#)([^"]*)"/g)].map(([, url]) => url)).toEqual([
      'https://example.org/a?b=1&amp;c=2',
    ]);
    expect(page).toContain('Update it.');
    expect(page).toContain('CVSS 3.1: 9.8 <code>CVSS:3.1/AV:N</code>');
    expect(page).toContain('<u>EPSS </u>0.50');
  });

  it('shows the first values of plugins as text, and names plugins', async () => {
    const rows = Array.from({ length: 203 }, (_, i) =>
      extra('a_key', `<b>${i}\x1b`, { host: '192.168.1.10' }),
    );
    const page = await render([...rows, host, port(22, { producer: plugin })]);
    const section = sectionOf(page, 'extra');
    expect(section).toContain('&lt;b&gt;199');
    expect(section).not.toContain('&lt;b&gt;200');
    expect(section).toContain('3 more are in the JSON format.');
    expect(page).toContain('Plugin my_plugin@1.2.3');
    expect(sectionOf(await render([host]), 'extra')).toBe('');
  });

  it('has the controls of frameworks with where they fail', async () => {
    const rows = [
      compliance('3.10', { port: 23, description: 'Telnet is reachable' }),
      compliance('7.7', {
        status: 'not_assessed',
        severity: null,
        host: null,
        port: null,
        description: 'no cve_matcher',
      }),
      host,
      port(23),
    ];
    const section = sectionOf(await render(rows), 'compliance');
    expect(section).toContain('<code>192.168.1.10:23</code> Telnet is reachable');
    expect(section).toContain('no cve_matcher');
    expect(sectionOf(await render([host]), 'compliance')).toBe('');
  });

  it('carries the notice of NVD where imported data was used', async () => {
    const catalogue_version = '2026-11-21+vulndb@20261121T120000Z-a1b2c3';
    expect(await render([], { summary: { ...head.summary, catalogue_version } })).toContain(
      'uses data from the NVD API but is not endorsed or certified by the NVD',
    );
    expect(await render([])).not.toContain('NVD');
  });

  it('says when it is partial, at each number and at the coverage', async () => {
    const page = await renderScan(syntheticPresets.canceled());
    expect(page.match(/<p class="part" role="note">Canceled\. Partial results\./g)).toHaveLength(2);
    expect(page).toContain('known exploited, so far');
    expect(page).toContain('critical or high, so far, of');
    expect(page).toContain('<b>ports not tried</b>');
    expect(await renderScan(syntheticPresets.office())).not.toContain('so far');
  });

  it('names errors, warnings and why a scan failed', async () => {
    const error: ErrorRow = {
      type: 'error',
      timestamp: head.timestamp,
      host: null,
      target: 'nohost',
      code: 'resolve_failed',
      message: 'name does not exist',
      node: null,
    };
    const page = await render([error], {
      partial: true,
      status: 'failed',
      failure: { code: 'pipeline_failed', message: 'no stage had results' },
      warnings: [{ code: 'slow', message: 'it was slow', node: 'sweep' }],
    });
    expect(page).toContain('no stage had results');
    expect(sectionOf(page, 'coverage')).toMatch(/nohost.*name does not exist/s);
    expect(sectionOf(page, 'coverage')).toMatch(/sweep.*it was slow/s);
  });

  it('does not call a scan clean that looked for nothing', async () => {
    const page = await render([host, port(22)], { evaluated: false });
    expect(page).toContain('<strong>–</strong><b>findings on 1 host</b><small>not asked for</small>');
    expect(page).not.toContain('known exploited</b>');
  });

  it('of nothing is a whole page', async () => {
    const page = await render([]);
    expect(page).toContain('No host is recorded.');
    expect(page).toContain('No findings are recorded.');
    expectLinked(page);
  });

  it('draws the template: title, mark, paragraphs, logo, color', async () => {
    const template = {
      name: 'x',
      title: 'Audit <2026>',
      mark: 'Confidential <1>',
      blocks: { cover: 'First\nsecond <b>', footer: 'Example Inc. <c>' },
      logo: { kind: 'png', width: 8, height: 4, data: 'iVBORw0KGgo=' },
      accent: '#336699',
    } as const;
    const page = await render([host], {}, { template });
    expect(page).toContain('<h1>Audit &lt;2026&gt;</h1>');
    expect(page).toContain('Confidential &lt;1&gt;');
    expect(page).toContain('First\nsecond &lt;b&gt;');
    expect(page).toContain('Example Inc. &lt;c&gt;');
    expect(page).toContain('<img src="data:image/png;base64,iVBORw0KGgo=" width="8" height="4" alt="">');
    expect(page).toContain('img-src data:');
    expect(page).toContain('--link:#336699');
  });

  it('forbids scripts, images and everything from other addresses', async () => {
    const page = await render([]);
    expect(page).toContain(
      `http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;"`,
    );
  });

  it('says what changed since an earlier scan', async () => {
    const balance = { critical: 0, high: -5, medium: 1, low: 0, info: 0 };
    const item = { severity: 'high', title: 'x', host: '192.168.1.10', port: 22, protocol: 'tcp' } as const;
    const page = await render(
      [host, port(22), finding(22, 'CVE-1')],
      {},
      {
        changes: {
          against: 'earlier-scan',
          at: '2026-10-05T14:14:02Z',
          new: 3,
          fixed: 7,
          unchanged: 84,
          unseen: 2,
          balance,
          hostsAdded: 1,
          hostsRemoved: 0,
          items: [
            { ...item, sign: 'new', id: 'CVE-1', product: 'Open<SSH>', why: 'service appeared since' },
            { ...item, sign: 'fixed', id: 'CVE-2', product: null, why: 'port closed' },
          ],
          itemsLeft: 8,
          notComparable: [{ reason: 'excluded this time', count: 4, example: '192.168.1.8' }],
        },
      },
    );
    expect(page).toContain('<strong>−4</strong><b>findings since Oct 5</b>');
    expect(page).toContain('<a class="a" href="#f-CVE-1">CVE-1</a> in Open&lt;SSH&gt;');
    expect(page).toContain('<code>CVE-2</code> x');
    expect(page).toContain('8 more changes of findings.');
    expect(page).toContain('excluded this time');
    expectLinked(page);
  });

  it('ends its reading when its reader goes away', async () => {
    let open = 0;
    let begun = 0;
    async function* rows() {
      open += 1;
      begun += 1;
      try {
        for (let number = 1; number < 5000; number++)
          yield port(22, { host: `10.0.${number >> 8}.${number & 255}`, banner: 'x'.repeat(100) });
      } finally {
        open -= 1;
      }
    }
    let openBefore = 0;
    for await (const _piece of renderHtml({ ...reportOfRows([]), rows })) {
      openBefore = open;
      if (begun === 2) break;
    }
    expect([begun, openBefore, open]).toEqual([2, 1, 0]);
  });

  it.each(hostile)('shows %j of a target as text', async (said) => {
    const page = await render(
      [
        ...hostileRows(said),
        compliance(said, { framework: said, title: said, description: said, host: said }),
        extra(said, said),
      ],
      {
        title: said,
        failure: { code: 'pipeline_failed', message: said },
        targets: [said],
      },
    );
    expect(tagsOf(page).filter((name) => !elements.test(name))).toEqual([]);
    expect(page).not.toMatch(/<(?:[^>"]|"[^"]*")*\son\w+\s*=/);
    expectLinked(page);
  });

  it('is markup of its own alone, nothing hidden, whatever a target says', async () => {
    await fc.assert(
      fc.asyncProperty(anyText(), async (said) => {
        const page = await render(hostileRows(said), { title: said });
        expect(tagsOf(page).filter((name) => !elements.test(name))).toEqual([]);
        expect(/[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|[^\P{Cc}\n\t]/u.exec(page)).toBeNull();
      }),
    );
  });

  it('shows what turns the direction of text', async () => {
    const page = await render([host, port(80, { banner: 'abc\u202egpj.exe\u200b' })]);
    expect(page).toContain('abc\\u{202e}gpj.exe\\u{200b}');
  });
});
