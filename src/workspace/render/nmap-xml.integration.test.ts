import { spawnSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isInstalled } from '../../../test/installed.ts';
import { anyText, finding, head, host, hostileRows, port, stream, text } from '../../../test/result-rows.ts';
import type { ResultRow } from '../../domain/result.ts';
import { renderNmapXml } from './nmap-xml.ts';

const render = (rows: ResultRow[], more: Partial<typeof head> = {}) =>
  text(renderNmapXml({ ...head, ...more }, stream(rows)));

/** Python's expat parses many documents at once and returns each as nested lists; a rejected one as its error. */
function parse(documents: string[]): unknown[] {
  const program = `
import json, sys, xml.etree.ElementTree as tree
def nested(e): return [e.tag, dict(e.attrib), e.text or '', [nested(c) for c in e]]
def read(d):
    try: return nested(tree.fromstring(d.encode('utf-8')))
    except tree.ParseError as error: return str(error)
print(json.dumps([read(d) for d in json.load(sys.stdin)]))`;
  const run = spawnSync('python3', ['-c', program], {
    input: JSON.stringify(documents),
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (run.status !== 0) throw new Error(run.stderr);
  return JSON.parse(run.stdout) as unknown[];
}

const hasPython = isInstalled('python3');

/** Characters that move a cursor, hide text or change its direction. */
const hidden = /[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|[^\P{Cc}\n]/u;

describe('nmap XML', () => {
  it('says hosts, ports, services, systems and findings in the elements of the format', async () => {
    const service = {
      name: 'https',
      product: 'nginx',
      vendor: 'f5',
      version: '1.24.0',
      cpe: 'cpe:2.3:a:f5:nginx:1.24.0:*:*:*:*:*:*:*',
      confidence: 0.95,
    };
    const xml = await render(
      [
        {
          ...host,
          hostnames: ['web-1.example.net', 'web-1.local'],
          mac: '52:54:00:12:34:56',
          method: 'tcp-rst',
          os: { family: 'linux', distribution: 'debian', version: '12', confidence: 0.9 },
          port_counts: { open: 2, closed: 996, filtered: 2, not_tried: 0 },
        },
        port(22, { banner: 'SSH-2.0-x\r\nhello\r\n' }),
        port(443, { service, tls: { version: 'TLSv1.3' } }),
        finding(443, 'CVE-1', 'high', { evidence: 'nginx/1.24.0' }),
        finding(null, 'host-check'),
      ],
      { targets: ['WEB-1.example.net'] },
    );
    expect(xml).toContain(
      '<host starttime="1791297023" endtime="1791297100"><status state="up" reason="tcp-rst" reason_ttl="0"/><address addr="192.168.1.10" addrtype="ipv4"/>' +
        '<address addr="52:54:00:12:34:56" addrtype="mac"/><hostnames><hostname name="web-1.example.net" type="user"/><hostname name="web-1.local"/></hostnames>' +
        '<os><osmatch name="linux debian 12" accuracy="90" line="0"><osclass vendor="Linux" osfamily="Linux" accuracy="90"/></osmatch></os><ports>' +
        '<extraports state="closed" count="996"/><extraports state="filtered" count="2"/>\n' +
        '<port protocol="tcp" portid="22"><state state="open" reason="syn-ack" reason_ttl="0"/>' +
        '<service name="ssh" method="table" conf="3"/><script id="portolan" output="banner:&#10;  SSH-2.0-x&#10;  hello"><elem key="banner">SSH-2.0-x&#10;hello</elem></script></port>\n' +
        '<port protocol="tcp" portid="443"><state state="open" reason="syn-ack" reason_ttl="0"/>' +
        '<service name="http" product="nginx" version="1.24.0" tunnel="ssl" method="probed" conf="10">' +
        '<cpe>cpe:/a:f5:nginx:1.24.0</cpe></service><script id="portolan" output="CVE-1:&#10;  HIGH, likely: Title of CVE-1&#10;  Evidence: nginx/1.24.0"><table key="CVE-1">',
    );
    expect(xml).toContain('<elem key="class">likely</elem>');
    expect(xml).toMatch(
      /<\/port><\/ports><hostscript><script id="portolan" output="host-check: .*<\/hostscript><\/host>/,
    );
    expect(xml).toContain('<hosts up="1" down="253" total="254"/>');
    expect(xml).toContain('startstr="Tue Oct  6 14:30:23 2026"');
  });

  it('says that it is partial', async () => {
    const xml = await render([], { partial: true, status: 'failed' });
    expect(xml).toContain('exit="error" errormsg="the scan is failed; this is what it has found so far"');
  });

  it.runIf(hasPython)('is well-formed for any text of a target, and keeps what can be kept', async () => {
    const texts = fc
      .sample(anyText(), 60)
      .concat(']]>', '<!--', '&#0;', '\uffff', '<img src=x onerror=alert(1)>');
    const documents = await Promise.all(texts.map((said) => render(hostileRows(said))));
    for (const [index, document] of parse(documents).entries()) {
      expect(document, JSON.stringify(texts[index])).toBeInstanceOf(Array);
    }
    expect(hidden.exec(documents.join(''))).toBeNull();
  });

  it.runIf(hasPython)('gives line breaks, tabs and quotes back to a parser', async () => {
    const banner = 'a\tb\n<"\'&> ü';
    const [document] = parse([await render([host, port(1, { banner })])]);
    expect(JSON.stringify(document)).toContain(JSON.stringify(banner));
  });

  const dtd = '/usr/share/nmap/nmap.dtd';
  it.runIf(isInstalled('xmllint') && isInstalled(dtd))(
    'fits the document type that nmap itself publishes',
    async () => {
      const { state: _state, ...said } = port(5353, { protocol: 'udp', banner: 'x' });
      const xml = await render([
        ...hostileRows('text'),
        { ...said, host: 'fe80::1%eth0', state: 'open|filtered' },
      ]);
      const run = spawnSync('xmllint', ['--noout', '--nonet', '--dtdvalid', dtd, '-'], {
        input: xml,
        encoding: 'utf8',
      });
      expect(run.stderr).toBe('');
    },
  );
});
