import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  anyText,
  extra,
  finding,
  head,
  host,
  hostileRows,
  plugin,
  port,
  stream,
  text,
} from '../../../../test/result-rows.ts';
import type { ResultRow } from '../../../domain/result.ts';
import type { ReportHead } from '../report-head.ts';
import { renderHtml } from './html.ts';

const render = (rows: ResultRow[], more: Partial<ReportHead> = {}) =>
  text(renderHtml({ ...head, ...more }, () => stream(rows)));

/** Elements of the report; targets add none. */
const elements =
  /^\/?(?:html|head|meta|title|style|body|div|header|main|footer|section|nav|h[1-4]|p|b|br|small|span|strong|code|pre|ul|li|dl|dt|dd|a|svg|rect|table|caption|thead|tbody|tr|th|td|input|label)$/;

const hostile = [
  '<script>alert(1)</script>',
  '<svg onload=alert(1)>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</pre></style></title><script>alert(1)</script>',
  '--><script>alert(1)</script>',
  '&lt;script&gt;',
];

describe('HTML report', () => {
  it('shows the first values of plugins as text, and counts the others', async () => {
    const rows = Array.from({ length: 203 }, (_, i) =>
      extra('a_key', `<b>${i}\x1b`, { host: '192.168.1.10' }),
    );
    const page = await render([...rows, host]);
    expect(page).toContain('&quot;&lt;b&gt;199');
    expect(page).not.toContain('&quot;&lt;b&gt;200');
    expect(page).toContain('3 more are in the JSON format.');
    expect(page).toContain('my_plugin@1.2.3');
    expect(await render([host])).not.toContain('id="extra"');
  });

  it('names the plugin behind hosts, ports and findings', async () => {
    const made = { producer: plugin };
    const page = await render([{ ...host, ...made }, port(22, made), { ...finding(22, 'a'), ...made }]);
    expect(page.match(/<dt>Plugin<\/dt><dd>my_plugin@1\.2\.3<\/dd>/g)).toHaveLength(3);
  });

  it('shows the counts, the hosts, their ports and the findings with their evidence', async () => {
    const page = await render(
      [
        {
          ...host,
          hostnames: ['web-1.example.net'],
          port_counts: { open: 1, closed: 9, filtered: 0, not_tried: 0 },
        },
        port(22, { banner: 'SSH-2.0-x\r\n' }),
        finding(22, 'CVE-1', 'critical', {
          evidence: 'SSH-2.0-x',
          remediation: 'Update it.',
          cvss: { version: '3.1', score: 9.8, vector: 'CVSS:3.1/AV:N' },
          kev: true,
          epss: { score: 0.5, percentile: 0.98 },
          references: ['https://example.org/a?b=1&c=2', 'javascript:alert(1)', 'see the manual'],
        }),
      ],
      { title: 'Branch office', summary: { ...head.summary, open_ports: 1234 } },
    );
    expect(page).toContain('<h1>Branch office</h1>');
    expect(page).toContain('<b>1,234</b>Open ports');
    expect(page).toContain('<pre>SSH-2.0-x</pre>');
    expect(page).toContain('1 open, 9 closed');
    expect(page).toContain('EPSS 50.0 %, percentile 98.0 %');
    expect(page).toContain('known to be exploited (KEV)');
    expect(page).toContain('href="https://example.org/a?b=1&amp;c=2" rel="noopener noreferrer"');
    expect(page).toContain('<li>javascript:alert(1)</li>');
    expect(page).toContain('<li>see the manual</li>');
  });

  it('carries the notice of NVD where imported data was used', async () => {
    const catalogue_version = '2026-11-21+vulndb@20261121T120000Z-a1b2c3';
    expect(await render([], { summary: { ...head.summary, catalogue_version } })).toContain(
      'uses data from the NVD API but is not endorsed or certified by the NVD',
    );
    expect(await render([])).not.toContain('NVD');
  });

  it('shows kind and system of a host, why, and what identifies it; all of it as text', async () => {
    const system = { family: 'windows', distribution: 'windows server', version: '2022' };
    const source = '3389/tcp';
    const page = await render([
      {
        ...host,
        os: { ...system, confidence: 0.9 },
        os_evidence: [{ ...system, weight: 0.9, source, evidence: '<b>10.0.20348', rule: 'r' }],
        device_type: 'server',
        device_evidence: Array.from({ length: 9 }, (_, n) => ({
          device_type: 'server' as const,
          weight: 0.5,
          source: `${n}/tcp`,
          evidence: 'x',
          rule: 'r',
        })),
        identity: [{ kind: 'ssh_host_key', value: 'ssh-ed25519 abc' }],
      },
    ]);
    expect(page).toContain('<td role="cell">server, windows server 2022</td>');
    expect(page).toContain('<dd>windows server 2022 (90 %)</dd>');
    expect(page).toContain('windows server 2022 90 % by 3389/tcp: &lt;b&gt;10.0.20348');
    expect(page).toContain('server 50 % by 4/tcp: x; and 4 more');
    expect(page).toContain('ssh host key ssh-ed25519 abc');
    const unknown = await render([{ ...host, device_type: 'unknown' }]);
    expect(unknown).not.toContain('<dt>Device</dt>');
  });

  it('shows the text of a banner and leaves what is for programs to the JSON form', async () => {
    const page = await render([
      host,
      port(22, {
        banner: 'SSH-2.0-x\r\n\\x00\\x00\\x04L',
        attributes: { ssh: { host_keys: [{ type: 'a', sha256: 'b' }] } },
      }),
      port(23, { banner: '\\x00\\x01' }),
    ]);
    expect(page).toContain('<pre>SSH-2.0-x</pre><small>binary data follows, see the JSON format</small>');
    expect(page).toContain('<pre>\\x00\\x01</pre>');
    expect(page).toContain('<dt>ssh.host_keys</dt><dd>a b</dd>');
  });

  it('links every entry of its tables to a place that exists once', async () => {
    const page = await render([
      host,
      port(22),
      finding(22, 'A'),
      finding(99, 'B'),
      finding(99, 'C'),
      finding(null, 'D'),
      { ...port(22), host: 'fe80::1%eth0' },
    ]);
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    const links = [...page.matchAll(/ href="#([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(links.filter((link) => !ids.includes(link))).toEqual([]);
    expect(links.length).toBeGreaterThan(8);
  });

  it('orders findings by urgency and hosts by their worst finding', async () => {
    const other = { ...host, host: '192.168.1.11' };
    const page = await render([
      host,
      finding(null, 'medium-one', 'medium'),
      finding(null, 'high-one', 'high'),
      finding(null, 'high-exploited', 'high', { kev: true }),
      other,
      { ...finding(null, 'critical-one', 'critical'), host: other.host },
    ]);
    const listed = page.slice(page.indexOf('id="findings"'), page.indexOf('id="hosts"'));
    const order = [...listed.matchAll(/<b>([\w-]+)<\/b>/g)].map(([, id]) => id);
    expect(order).toEqual(['critical-one', 'high-exploited', 'high-one', 'medium-one']);
    const hosts = page.slice(page.indexOf('id="hosts"'), page.indexOf('id="notes"'));
    expect(hosts.indexOf('192.168.1.11')).toBeLessThan(hosts.indexOf('192.168.1.10<'));
  });

  it('shows how sure each finding is, at the front and at its host, the certain ones first', async () => {
    const classes = ['possible', 'certain', 'likely'] as const;
    const page = await render([
      host,
      ...classes.map((name) => finding(null, `is-${name}`, 'high', { class: name })),
    ]);
    const marks = (from: string, to?: string) => {
      const part = page.slice(page.indexOf(from), to === undefined ? undefined : page.indexOf(to));
      return [
        ...part.matchAll(/<span class="class"><span aria-hidden="true">(.)<\/span> (\w+)<\/span>/g),
      ].map(([, dot, name]) => `${dot} ${name}`);
    };
    const ordered = ['● certain', '◐ likely', '○ possible'];
    expect(marks('id="findings"', 'id="hosts"')).toEqual(ordered);
    expect(marks('id="notes"').toSorted()).toEqual(ordered.toSorted());
  });

  it('says when it is partial, why the scan failed, and what went wrong', async () => {
    const error: ResultRow = {
      type: 'error',
      timestamp: head.timestamp,
      host: null,
      target: 'nohost',
      code: 'resolve_failed',
      message: 'name does not exist',
      node: null,
    };
    const warnings = [{ code: 'slow', message: 'it was slow', node: 'sweep' }];
    const page = await render([error], {
      partial: true,
      status: 'failed',
      failure: 'it was canceled',
      warnings,
    });
    expect(page).toContain('This scan did not reach its end.');
    expect(page).toContain('It failed: it was canceled.');
    expect(page).toContain('<b>nohost</b>: name does not exist');
    expect(page).toContain('<b>sweep</b>: it was slow');
    expect(await render([], { partial: true, status: 'running' })).toContain('This scan is not finished.');
  });

  it('of nothing is a whole page', async () => {
    const page = await render([]);
    expect(page).toContain('No host is recorded.');
    expect(page).toContain('No findings are recorded.');
    expect(page.trimEnd()).toMatch(/<\/html>$/);
  });

  it('does not call a scan clean that looked for nothing', async () => {
    const summary = { ...head.summary, vulnerabilities: 0 };
    const page = await render([host], { evaluated: false, summary });
    expect(page).toContain('This scan did not look for vulnerabilities.');
    expect(page).toContain('<b>–</b>Findings: not looked for');
    expect(page).not.toContain('No findings are recorded.');
    expect(page).not.toContain('class="legend"');
  });

  it('is still whole when the record is gone at the second reading', async () => {
    const rows = [host, port(22), finding(22, 'CVE-1')];
    let readings = 0;
    const page = await text(
      renderHtml(head, () => {
        readings += 1;
        return stream(readings === 1 ? rows : []);
      }),
    );
    expect(page).toContain('22/tcp');
    expect(page.trimEnd()).toMatch(/<\/html>$/);
  });

  it('ends both readings when its reader goes away', async () => {
    let open = 0;
    async function* rows() {
      open += 1;
      try {
        for (let number = 1; number < 60_000; number++) yield port(number, { banner: 'x'.repeat(100) });
      } finally {
        open -= 1;
      }
    }
    let pieces = 0;
    for await (const _piece of renderHtml(head, rows)) if (++pieces === 3) break;
    expect(open).toBe(0);
  });

  it.each(hostile)('T-018 T-020 shows %j of a target as text', async (said) => {
    const page = await render(hostileRows(said), { title: said, failure: said, targets: [said] });
    const tags = [...page.matchAll(/<(\/?[^\s>!]+)/g)].map(([, name]) => name as string);
    expect(tags.filter((name) => !elements.test(name))).toEqual([]);
    expect(page).not.toMatch(/<(?:[^>"]|"[^"]*")*\son\w+\s*=/);
  });

  it('is markup of its own alone, nothing hidden, whatever a target says', async () => {
    await fc.assert(
      fc.asyncProperty(anyText(), async (said) => {
        const page = await render(hostileRows(said), { title: said });
        const tags = [...page.matchAll(/<(\/?[^\s>!]+)/g)].map(([, name]) => name as string);
        expect(tags.filter((name) => !elements.test(name))).toEqual([]);
        expect(/[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|[^\P{Cc}\n\t]/u.exec(page)).toBeNull();
      }),
    );
  });

  it('shows what turns the direction of text', async () => {
    const page = await render([host, port(80, { banner: 'abc\u202egpj.exe\u200b' })]);
    expect(page).toContain('abc\\u{202e}gpj.exe\\u{200b}');
  });

  it('forbids scripts and everything from elsewhere', async () => {
    const page = await render([]);
    expect(page).toContain(
      `http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;;`,
    );
    expect(page).not.toMatch(/<script|<link|<iframe|url\(|@import| src=/);
  });
});
