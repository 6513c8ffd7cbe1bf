import * as fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { anyText, finding, head, host, hostileRows, port, stream, text } from '../../../test/result-rows.ts';
import type { ResultRow } from '../../domain/result.ts';
import { type NmapRun, renderNmapXml } from './nmap-xml.ts';

interface Element {
  name: string;
  attributes: Record<string, string>;
  children: Element[];
  text: string;
}

/** The root element; throws where the document is not well-formed. */
function parse(xml: string): Element {
  const open: Element[] = [{ name: '', attributes: {}, children: [], text: '' }];
  const last = () => open.at(-1) as Element;
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes: attributes as Record<string, string>, children: [], text: '' };
    last().children.push(element);
    open.push(element);
  });
  parser.on('text', (more) => {
    last().text += more;
  });
  parser.on('closetag', () => void open.pop());
  parser.write(xml).close();
  return last().children[0] as Element;
}

const render = async (rows: ResultRow[], more: Partial<typeof head> = {}, run?: NmapRun) =>
  parse(await text(renderNmapXml({ ...head, ...more }, stream(rows), run)));

function within(element: Element, name: string): Element[] {
  return element.children.flatMap((child) => [
    ...(child.name === name ? [child] : []),
    ...within(child, name),
  ]);
}

/** The text of the only script of an element, none = ''. */
function saidOf(element: Element): string {
  const scripts = within(element, 'script');
  expect(scripts.length).toBeLessThan(2);
  return scripts[0]?.attributes['output'] ?? '';
}

/** The text and the tables of the script of the only port. */
async function scriptOf(row: ResultRow): Promise<{ output: string; facts: unknown }> {
  const root = await render([host, row]);
  return { output: saidOf(root), facts: within(root, 'script').flatMap(factsOf) };
}

/** Tables and elements as nested lists. */
function factsOf({ children }: Element): unknown[] {
  return children.map((child) => [
    child.attributes['key'],
    child.name === 'elem' ? child.text : factsOf(child),
  ]);
}

describe('ports of the nmap XML that are not open', () => {
  it('have their reason, and the sender of an ICMP error where it is known', async () => {
    const row = {
      ...host,
      port_counts: { open: 0, closed: 2, filtered: 4, not_tried: 0 },
      port_reasons: [
        {
          protocol: 'tcp',
          state: 'filtered',
          reason: 'host-unreachable',
          from: '10.0.0.254',
          count: 3,
          ports: [22, 80],
        },
        { protocol: 'tcp', state: 'closed', reason: 'rst', count: 2, ports: [] },
        { protocol: 'tcp', state: 'filtered', reason: 'no-response', count: 1, ports: [] },
      ],
    } as ResultRow;
    const document = await render([row]);
    const extra = within(document, 'extraports').map(({ attributes, children }) => [
      attributes,
      children.map((child) => child.attributes),
    ]);
    expect(extra).toEqual([
      [{ state: 'closed', count: '2' }, [{ reason: 'reset', count: '2', proto: 'tcp' }]],
      [
        { state: 'filtered', count: '2' },
        [
          { reason: 'host-unreach', count: '1', proto: 'tcp' },
          { reason: 'no-response', count: '1', proto: 'tcp' },
        ],
      ],
    ]);
    const states = within(document, 'port').map((each) => [
      each.attributes['portid'],
      within(each, 'state')[0]?.attributes,
    ]);
    const state = { state: 'filtered', reason: 'host-unreach', reason_ttl: '0', reason_ip: '10.0.0.254' };
    expect(states).toEqual([
      ['22', state],
      ['80', state],
    ]);
  });
});

describe('the head of the nmap XML', () => {
  const summary = { ...head.summary, ports: { tcp: '22,80-82,443', udp: '53' } };

  it('has an element for each protocol with its ports, and the type of the scan', async () => {
    const infoOf = async (...methods: string[]) => {
      const stages = methods.map((method) => ({ method }));
      return within(await render([], { summary }, { command: null, stages }), 'scaninfo').map(
        ({ attributes }) => attributes,
      );
    };
    const udp = { type: 'udp', protocol: 'udp', numservices: '1', services: '53' };
    const tcp = { protocol: 'tcp', numservices: '5', services: '22,80-82,443' };
    expect(await infoOf('raw packets: CAP_NET_RAW is available')).toEqual([{ type: 'syn', ...tcp }, udp]);
    expect(await infoOf('connections: no CAP_NET_RAW', 'UDP probes: protocol is udp')).toEqual([
      { type: 'connect', ...tcp },
      udp,
    ]);
    expect(within(await render([]), 'scaninfo')).toEqual([]);
  });

  it('has the command with its flags, or the targets where it is not known', async () => {
    const command = 'portolan scan 192.0.2.1 --ports 22 --rate 100';
    expect((await render([], {}, { command, stages: [] })).attributes['args']).toBe(command);
    expect((await render([])).attributes['args']).toBe('portolan scan 192.168.1.0/24');
  });
});

describe('hosts of the nmap XML', () => {
  it('have the start of the scan and their own end', async () => {
    const later = { ...host, host: '192.168.1.11', timestamp: '2026-10-06T14:31:10.999Z' };
    const earlier = { ...host, host: '192.168.1.12', timestamp: '2026-10-06T00:00:00.000Z' };
    const root = await render([later, earlier, { ...port(22), host: '192.168.1.13' }]);
    const start = Number(root.attributes['start']);
    const times = within(root, 'host').map(({ attributes: { starttime, endtime } }) => [
      Number(starttime) - start,
      Number(endtime) - start,
    ]);
    expect(times).toEqual([
      [0, 47],
      [0, 0],
      [0, 77],
    ]);
  });

  it('say which of their names was a target', async () => {
    const hostnames = ['web.example', 'WEB-1', 'web-1.local'];
    const root = await render([{ ...host, hostnames }], {
      targets: ['10.0.0.0/24', 'Web.Example,other.example'],
    });
    expect(within(root, 'hostname').map(({ attributes }) => attributes)).toEqual([
      { name: 'web.example', type: 'user' },
      { name: 'WEB-1' },
      { name: 'web-1.local' },
    ]);
  });

  it('have a class of their system', async () => {
    const os = { family: 'windows', distribution: 'windows server', version: '2022', confidence: 0.8 };
    const root = await render([{ ...host, os, device_type: 'network_device' }]);
    expect(within(root, 'osclass')[0]?.attributes).toEqual({
      type: 'network device',
      vendor: 'Microsoft',
      osfamily: 'Windows',
      osgen: '2022',
      accuracy: '80',
    });
  });

  it('count a silent UDP port that has an element of its own no second time', async () => {
    const counts = { open: 1, closed: 3, filtered: 6, not_tried: 0 };
    const udp = { open: 0, closed: 0, filtered: 4, not_tried: 0 };
    const silent = (number: number) =>
      port(number, { protocol: 'udp', state: 'open|filtered', reason: 'no-response' });
    const root = await render([
      { ...host, port_counts: counts, udp_port_counts: udp },
      port(22),
      finding(22, 'CVE-1'),
      silent(123),
      silent(161),
      finding(null, 'host-check'),
      { ...host, host: '192.168.1.11', port_counts: counts },
    ]);
    const [first, second] = within(root, 'ports').map(({ children }) =>
      children.map(({ name, attributes }) => [name, attributes['portid'] ?? attributes['count']]),
    );
    expect(first).toEqual([
      ['extraports', '3'],
      ['extraports', '4'],
      ['port', '22'],
      ['port', '123'],
      ['port', '161'],
    ]);
    expect(second).toEqual([
      ['extraports', '3'],
      ['extraports', '6'],
    ]);
    expect(within(root, 'hostscript')).toHaveLength(1);
  });
});

describe('services of the nmap XML', () => {
  it('are named by the port table where nothing was identified', async () => {
    const rows = [port(22), port(53, { protocol: 'udp' }), port(4), port(80, { service: null, banner: '' })];
    const ports = within(await render([host, ...rows]), 'port');
    const services = ports.map((each) => within(each, 'service')[0]?.attributes);
    const table = { method: 'table', conf: '3' };
    expect(services).toEqual([
      { name: 'ssh', ...table },
      { name: 'domain', ...table },
      undefined,
      { name: 'http', ...table },
    ]);
  });
});

describe('scripts of the nmap XML', () => {
  it('show the title of a page, or where it leads', async () => {
    const page = (http: object) => scriptOf(port(80, { attributes: { http: { status: 200, ...http } } }));
    expect(await page({ title: 'Grafana' })).toEqual({
      output: 'http-title: Grafana',
      facts: [['http-title', [['title', 'Grafana']]]],
    });
    expect((await page({ title: 'x'.repeat(70) })).output).toBe(`http-title: ${'x'.repeat(62)}...`);
    expect(await page({ headers: { 'content-type': 'text/html' } })).toEqual({
      output: "http-title: Site doesn't have a title (text/html).",
      facts: [['http-title', []]],
    });
    expect(await page({ status: 302, location: 'https://x/' })).toEqual({
      output: 'http-title: Did not follow redirect to https://x/',
      facts: [['http-title', [['redirect_url', 'https://x/']]]],
    });
  });

  it('show a certificate', async () => {
    const certificate = {
      subject: 'C=US, O=Example, Inc., CN=web-1.example.net',
      issuer: 'CN=Example CA',
      sans: ['web-1.example.net', '192.0.2.1'],
      not_before: '2026-01-02T03:04:05.000Z',
      not_after: '2027-01-02T03:04:05.000Z',
      key: 'RSA 2048',
      signature: 'sha256WithRSAEncryption',
      sha256: 'ab'.repeat(32),
    };
    const found = await scriptOf(port(443, { tls: { version: 'TLSv1.3', certificate } }));
    expect(found.output.split('\n  ')).toEqual([
      'ssl-cert:',
      'Subject: commonName=web-1.example.net/organizationName=Example, Inc./countryName=US',
      'Subject Alternative Name: DNS:web-1.example.net, IP Address:192.0.2.1',
      'Issuer: commonName=Example CA',
      'Public Key type: rsa',
      'Public Key bits: 2048',
      'Signature Algorithm: sha256WithRSAEncryption',
      'Not valid before: 2026-01-02T03:04:05',
      'Not valid after:  2027-01-02T03:04:05',
      `SHA-256: ${Array(16).fill('abab').join(' ')}`,
    ]);
    expect(found.facts).toEqual([
      [
        'ssl-cert',
        [
          [
            'subject',
            [
              ['commonName', 'web-1.example.net'],
              ['countryName', 'US'],
              ['organizationName', 'Example, Inc.'],
            ],
          ],
          ['issuer', [['commonName', 'Example CA']]],
          [
            'pubkey',
            [
              ['type', 'rsa'],
              ['bits', '2048'],
            ],
          ],
          ['sig_algo', 'sha256WithRSAEncryption'],
          [
            'validity',
            [
              ['notBefore', '2026-01-02T03:04:05'],
              ['notAfter', '2027-01-02T03:04:05'],
            ],
          ],
          ['sha256', 'ab'.repeat(32)],
        ],
      ],
    ]);
  });

  it('say why a service is not identified, and that a host accepts every port', async () => {
    const rows = [
      port(22, { banner: 'SSH-2.0-x' }),
      port(23, { unidentified_reason: 'tarpit' }),
      port(24, { unidentified_reason: 'unproven', banner: '' }),
      port(25),
    ];
    const root = await render([{ ...host, all_ports_open: true }, ...rows]);
    const unproven = 'unidentified: It accepts connections, but nothing came back: there may be no service.';
    expect(within(root, 'port').map(saidOf)).toEqual([
      'banner: SSH-2.0-x',
      'unidentified: It was not probed: too many ports of its host showed no sign of life.',
      unproven,
      unproven,
    ]);
    expect(within(root, 'hostscript').map(saidOf)).toEqual([
      expect.stringMatching(/^all-ports-open: .*not evidence of services/),
    ]);
    expect(saidOf(await render([host, port(25)]))).toBe('');
  });

  it('show the host keys of SSH', async () => {
    const ssh = {
      host_keys: [{ type: 'ssh-ed25519', sha256: 'AAAA' }],
      rsa_host_key: { type: 'ssh-rsa', sha256: 'BBBB', bits: 2048 },
    };
    expect(await scriptOf(port(22, { attributes: { ssh } }))).toEqual({
      output: 'ssh-hostkey:\n  256 SHA256:AAAA (ED25519)\n  2048 SHA256:BBBB (RSA)',
      facts: [
        [
          'ssh-hostkey',
          [
            [
              undefined,
              [
                ['type', 'ssh-ed25519'],
                ['bits', '256'],
                ['sha256', 'AAAA'],
              ],
            ],
            [
              undefined,
              [
                ['type', 'ssh-rsa'],
                ['bits', '2048'],
                ['sha256', 'BBBB'],
              ],
            ],
          ],
        ],
      ],
    });
  });

  it('are one of a port and one of a host, whatever they say: ndiff stops at a second one', async () => {
    const http = { status: 200, title: 'A' };
    const root = await render([
      { ...host, all_ports_open: true },
      port(80, { banner: 'HTTP/1.1 200 OK\r\nServer: x\r\n\r\n<html>', attributes: { http } }),
      ...['banner', 'CVE-1', 'CVE-1'].map((id) => finding(80, id)),
      finding(null, 'CVE-2'),
      port(81, { banner: 'hello' }),
      finding(81, 'CVE-1'),
    ]);
    const told = (id: string) => `${id}: HIGH, likely: Title of ${id}`;
    expect(
      [...within(root, 'port'), ...within(root, 'hostscript')].map((each) => saidOf(each).split('\n')),
    ).toEqual([
      [
        'banner:',
        '  HTTP/1.1 200 OK',
        '  Server: x',
        'http-title: A',
        ...['banner', 'CVE-1', 'CVE-1'].map(told),
      ],
      ['banner: hello', told('CVE-1')],
      [expect.stringMatching(/^all-ports-open: /), told('CVE-2')],
    ]);
    expect(new Set(within(root, 'script').map(({ attributes }) => attributes['id']))).toEqual(
      new Set(['portolan']),
    );
  });

  it('show what a target hides in its text', async () => {
    const said = `a\u3164\u2800\u202e${'\u0301'.repeat(6)}`;
    const root = await render([host, port(443, { attributes: { http: { status: 200, title: said } } })]);
    expect(saidOf(root)).toBe(
      `http-title: a\\u{3164}\\u{2800}\\u{202e}${'\u0301'.repeat(4)}\\u{301}\\u{301}`,
    );
  });

  it('take any text and any shape of a target', async () => {
    await fc.assert(
      fc.asyncProperty(anyText(), async (said) => {
        const certificate = {
          subject: `CN=${said}`,
          issuer: said,
          sans: [said, 1],
          not_after: said,
          key: said,
        };
        const ssh = { host_keys: [{ type: said, sha256: said }, null, 1] };
        const http = { status: 200, title: said, headers: { 'content-type': said } };
        const row = port(443, { banner: said, tls: { certificate }, attributes: { http, ssh } });
        const root = await render([host, row, ...hostileRows(said)]);
        within(root, 'port').forEach(saidOf);
      }),
      { numRuns: 50, examples: [['__proto__'], ['constructor']] },
    );
    for (const odd of [null, 1, 'x', [], [[]]] as unknown[]) {
      const attributes = { http: odd, ssh: odd };
      await render([
        host,
        port(1, { attributes, tls: { certificate: odd } }),
        port(2, { attributes: { ssh: { host_keys: odd } } }),
      ]);
    }
  });
});
