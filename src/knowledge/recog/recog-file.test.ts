import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RuleCatalog, type SignatureMatch } from '../rules/rule-catalog.ts';
import { triedProblems } from '../rules/signature-file.ts';
import { parseRecog } from './recog-file.ts';

const database = (inner: string, attributes = 'matches="ssh.banner" protocol="ssh" preference="0.90"') =>
  `<?xml version="1.0"?>\n<fingerprints ${attributes}>\n${inner}\n</fingerprints>\n`;

const shell = database(`<fingerprint pattern="^ShellBox_([\\d.]+)(?: \\(([^)]+)\\))?$" flags="REG_ICASE">
  <description>Shell
    Box</description>
  <example service.version="3.1" os.product="Linux">shellbox_3.1 (Linux)</example>
  <example _encoding="base64" service.version="3.2">U2hlbGxCb3hfMy4y</example>
  <param pos="0" name="service.vendor" value="Box &amp; Sons"/>
  <param pos="0" name="service.product" value="ShellBox"/>
  <param pos="1" name="service.version"/>
  <param pos="0" name="service.cpe23" value="cpe:/a:box%26sons:shellbox:{service.version}"/>
  <param pos="2" name="os.product"/>
  <param pos="0" name="hw.device" value="Broadband Router"/>
  <param pos="0" name="hw.vendor" value="Box"/>
  <param pos="0" name="hw.product" value="Box {service.version}"/>
</fingerprint>`);

test('a fingerprint becomes a signature', () => {
  const [placed] = parseRecog(shell, 'ssh_banners.xml');
  expect(placed?.place).toBe('ssh_banners.xml:3');
  expect(placed?.signature).toEqual({
    id: expect.stringMatching(/^recog\.ssh-banners\.[0-9a-f]{8}$/),
    pattern: expect.stringMatching(/^\^ShellBox_/),
    examples: [
      { text: 'shellbox_3.1 (Linux)', facts: { 'service.version': '3.1', 'os.product': 'Linux' } },
      { text: 'ShellBox_3.2', facts: { 'service.version': '3.2' } },
    ],
    facts: expect.objectContaining({ 'os.product': '{2}', 'service.vendor': 'Box & Sons' }),
    description: 'Shell Box',
    category: 'remote-access',
    service: 'ssh',
    source: 'ssh.software',
    flags: 'mi',
    product: 'ShellBox',
    vendor: 'box&sons',
    version: '{1}',
    cpe: { part: 'a', vendor: 'box&sons', product: 'shellbox', version: '{1}' },
    certainty: 0.83,
    hardware: { type: 'router', vendor: 'Box', product: 'Box {1}' },
  });
  expect(triedProblems(placed as never)).toEqual([]);
  const catalogue = new RuleCatalog([placed?.signature as never]);
  expect(catalogue.match('ssh.software', 'SHELLBOX_3.1 (Linux)')).toMatchObject([
    {
      version: '3.1',
      cpe: 'cpe:2.3:a:box\\&sons:shellbox:3.1:*:*:*:*:*:*:*',
      hardware: { type: 'router', vendor: 'Box', product: 'Box 3.1' },
      facts: { 'os.product': 'Linux', 'hw.product': 'Box 3.1' },
    },
  ]);
  expect(catalogue.match('ssh.software', 'ShellBox_3.2')[0]?.facts).not.toHaveProperty('os.product');
});

test('patterns mean what they mean in Ruby', () => {
  const one = (pattern: string, flags: string, text: string) => {
    const xml = database(
      `<fingerprint pattern="${pattern}" ${flags}><param pos="0" name="service.product" value="P"/></fingerprint>`,
    );
    const catalogue = new RuleCatalog(parseRecog(xml, 'x.xml').map(({ signature }) => signature));
    return catalogue.match('ssh.software', Buffer.from(text, 'utf8').toString('latin1')).length === 1;
  };
  expect(one('^b$', '', 'a\nb\nc')).toBe(true);
  expect(one('a.b', '', 'a\nb')).toBe(false);
  expect(one('a.b', 'flags="REG_DOT_NEWLINE"', 'a\nb')).toBe(true);
  expect(one('a.b', 'flags="REG_MULTILINE"', 'a\nb')).toBe(true);
  expect(one('(?m:a.b)', '', 'a\nb')).toBe(true);
  expect(one('(?im:A.b)', '', 'a\nb')).toBe(true);
  expect(one('(?i)AB', '', 'ab')).toBe(true);
  expect(one('\\\\(?m:x)', '', '\\x')).toBe(true);
  expect(one('été', '', 'un été')).toBe(true);
});

test('systems, versions in names and the weakness of shared prints', () => {
  const os = (params: string) => {
    const xml = database(
      `<fingerprint pattern="x">${params}</fingerprint>`,
      'matches="smb.native_os" protocol="smb" database_type="util.os"',
    );
    return parseRecog(xml, 'smb_native_os.xml')[0]?.signature;
  };
  const param = (name: string, value: string) => `<param pos="0" name="${name}" value="${value}"/>`;
  expect(os(param('os.family', 'Windows') + param('os.product', 'Windows Server 2012 R2'))).toMatchObject({
    service: null,
    product: null,
    os: { family: 'windows', distribution: 'windows server', version: '2012 R2' },
  });
  const ubuntu = param('os.vendor', 'Ubuntu') + param('os.family', 'Linux') + param('os.version', '22.04');
  expect(os(ubuntu)?.os).toEqual({ family: 'linux', distribution: 'ubuntu', version: '22.04' });
  const router = param('os.vendor', 'Box') + param('os.family', 'Linux') + param('os.version', '7');
  expect(os(router)?.os).toEqual({ family: 'linux' });
  const icon = database(
    `<fingerprint pattern="^abc$">${param('service.product', 'P')}</fingerprint>`,
    'matches="favicon.md5"',
  );
  expect(parseRecog(icon, 'favicons.xml')[0]?.signature).toMatchObject({
    service: 'http',
    source: 'http.favicon.md5',
    certainty: 0.48,
  });
  const strange = database(
    `<fingerprint pattern="x">${param('service.product', 'P')}</fingerprint>`,
    'protocol="h.323"',
  );
  expect(parseRecog(strange, 'h323_callresp.xml')[0]?.signature.source).toBe('recog.h323-callresp');
});

test.each([
  ['no XML at all', 'ids: []', /^fingerprint rules rejected: f\.xml:1: text outside/],
  ['another document', '<rss/>', /f\.xml:1: <rss>, expected <fingerprints>/],
  ['another element', database('<print/>'), /f\.xml:3: <print>, expected/],
  ['no pattern', database('<fingerprint/>'), /f\.xml:3: the fingerprint has no pattern/],
  ['an unknown flag', database('<fingerprint pattern="x" flags="REG_X"/>'), /f\.xml:3: unknown flag REG_X/],
  [
    'an unknown encoding',
    database('<fingerprint pattern="x"><example _encoding="rot13">x</example></fingerprint>'),
    /f\.xml:3: unknown encoding rot13/,
  ],
  [
    'a param without a name',
    database('<fingerprint pattern="x">\n<param pos="1"/></fingerprint>'),
    /f\.xml:4: a param requires/,
  ],
  [
    'a param without a value',
    database('<fingerprint pattern="x"><param pos="0" name="a"/></fingerprint>'),
    /f\.xml:3: the param a has no value/,
  ],
  [
    'a pattern that is too long',
    database(`<fingerprint pattern="${'x'.repeat(5000)}"/>`),
    /f\.xml:3: pattern is longer/,
  ],
])('%s is refused with file and line', (_, text, message) => {
  expect(() => parseRecog(text, 'f.xml')).toThrow(message);
});

test('parameters that refer to each other come to an end', () => {
  const xml =
    database(`<fingerprint pattern="x"><param pos="0" name="a" value="{b}{b}{b}"/><param pos="0" name="b" value="{a}{a}{a}"/>
    <param pos="0" name="service.product" value="{c}P"/></fingerprint>`);
  expect(parseRecog(xml, 'f.xml')[0]?.signature.product).toBe('P');
});

const reference = process.env['PORTOLAN_REFERENCE_DATA'];

interface Labelled {
  db: string;
  encoding: 'text' | 'base64';
  banner: string;
  expect: Record<string, string>;
  static: Record<string, string>;
}

/** What a match must tell of a labelled banner; blanks around a value do not count. */
function isRight({ facts }: SignatureMatch, label: Labelled, encode: (text: string) => string): boolean {
  const wanted = Object.entries({ ...label.static, ...label.expect });
  return wanted.every(
    ([name, value]) =>
      /\.(?:certainty|cpe23)$/.test(name) ||
      [value, encode(value)].some((text) => (facts[name] ?? '') === text.trim().slice(0, 128)),
  );
}

describe.skipIf(!reference)(
  'the public corpus (PORTOLAN_REFERENCE_DATA names the folder that holds it)',
  () => {
    test('gives what its examples expect in at least 99.5 % of them', () => {
      const folder = join(reference ?? '', 'recog');
      const catalogues = new Map<string, { catalogue: RuleCatalog; source: string }>();
      for (const file of readdirSync(folder).filter((name) => name.endsWith('.xml'))) {
        const signatures = parseRecog(readFileSync(join(folder, file), 'utf8'), file).map(
          ({ signature }) => signature,
        );
        const catalogue = new RuleCatalog(signatures, 'corpus', signatures);
        catalogues.set(file, { catalogue, source: signatures[0]?.source ?? '' });
      }
      const lines = readFileSync(join(reference ?? '', 'banners/recog-examples.jsonl'), 'utf8')
        .trim()
        .split('\n');
      const bytesOf = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
      let right = 0;
      let best = 0;
      for (const line of lines) {
        const label = JSON.parse(line) as Labelled;
        const { catalogue, source } = catalogues.get(label.db) ?? ({} as never);
        const encode = /^(?:http\.title|tls\.)/.test(source) ? (text: string) => text : bytesOf;
        const text =
          label.encoding === 'base64'
            ? Buffer.from(label.banner, 'base64').toString('latin1')
            : encode(label.banner);
        const matches = catalogue.match(source, text);
        if (matches.some((match) => isRight(match, label, encode))) right++;
        if (matches[0] && isRight(matches[0], label, encode)) best++;
      }
      console.log(
        `${right} of ${lines.length} labelled banners give the expected fields, ${best} by the first match`,
      );
      expect(right / lines.length).toBeGreaterThanOrEqual(0.995);
    });
  },
);
