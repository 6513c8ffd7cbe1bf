import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RE2JS } from 're2js';
import { expect, test, vi } from 'vitest';
import { originalOf } from '../products/forks.ts';
import type { Signature } from '../signatures/signature.ts';
import { builtinRules, RuleCatalog } from './rule-catalog.ts';
import { parseSignatures, readSignatureFile, signatureProblems } from './signature-file.ts';

/** RE2 executes each instruction of a pattern at most once per character of a text. */
const mostInstructions = 3000;

test.each(builtinRules.signatures.map((signature) => [signature.id, signature] as const))(
  `the builtin signature %s gives what its examples say, by at most ${mostInstructions} instructions`,
  (_, signature) => {
    expect(signatureProblems(signature)).toEqual([]);
    expect(RE2JS.compile(signature.pattern).programSize()).toBeLessThanOrEqual(mostInstructions);
  },
);

test('builtin ids are unique', () => {
  const ids = builtinRules.signatures.map((signature) => signature.id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

/** Every text of the examples, with the product that its signature reads. */
const examples = builtinRules.signatures.flatMap((signature) =>
  signature.examples.flatMap(({ text, product = signature.product, version = null }) =>
    product === null || product.includes('{') ? [] : [{ signature, text, product, version }],
  ),
);

/** Numbers in a form of their own: nothing may follow them. */
const numbersOnly =
  /^(?:mssql\.|cisco-asa\.form|ilo4\.description|irc\.ircnet|teeworlds\.ddnet|adc\.hub|mysql\.percona-release)/;

test('a suffix that no signature lists costs neither product nor version', () => {
  const lost = examples.flatMap(
    ({ signature: { id, source, version: template }, text, product, version }) => {
      const at = template && version ? text.indexOf(version) : -1;
      if (at === -1 || numbersOnly.test(id)) return [];
      const end = at + (version?.length ?? 0);
      const built = `${text.slice(0, end)}-cll-lve${text.slice(end)}`;
      const kept = builtinRules
        .match(source, built)
        .some((match) => match.product === product && match.version?.startsWith(version ?? ''));
      return kept ? [] : [`${id}: ${built}`];
    },
  );
  expect(lost).toEqual([]);
});

/** Products of which one text names both: the same under two names, one inside the other, or one of a family. */
const namedTogether = [
  'Blackbox Exporter, Prometheus Blackbox Exporter',
  'C-ICAP, c-icap',
  'CVS, CVS pserver',
  'CouchDB, Erlang/OTP',
  'Dell iDRAC, Dell iDRAC7',
  'Dell iDRAC, Dell iDRAC8',
  'Dell iDRAC, Dell iDRAC9',
  'EMQX, Erlang/OTP',
  'Erlang/OTP, RabbitMQ',
  'Erlang/OTP, Riak',
  'Erlang/OTP, VerneMQ',
  'Erlang/OTP, ejabberd',
  'HPE iLO, HPE iLO 4',
  'IBM Db2, IBM Db2 for z/OS',
  'Jetty, Winstone',
  'Node Exporter, Prometheus Node Exporter',
  'Open Virtual Network, ovsdb-server',
  'Open vSwitch, ovsdb-server',
  'OpenSSL, PHP',
  'Perl, mod_perl',
  'Phusion Passenger, nginx',
  'Pi-hole FTL, dnsmasq',
  'Plexus, ircd-hybrid',
];

test('no text satisfies the signatures of two different products', () => {
  const pairs = examples.flatMap(({ signature, text, product }) =>
    builtinRules
      .match(signature.source, text)
      .filter(({ rule }) => !rule.startsWith('general.') && !signature.id.startsWith('general.'))
      .flatMap((match) =>
        match.product === null || match.product === product ? [] : [[product, match.product]],
      )
      // A fork that names its original counts as the fork alone.
      .filter((pair) => !pair.some((name) => originalOf(name) !== null))
      .map((pair) => pair.sort().join(', ')),
  );
  expect([...new Set(pairs)].sort()).toEqual(namedTogether);
});

const wellFormed = `
- id: http.example
  service: http
  source: http.header.server
  pattern: '^Example/(?P<version>\\d+\\.\\d+)'
  product: Example
  vendor: example
  version: '{version}'
  cpe: { part: a, vendor: example, product: example, version: '{version}' }
  certainty: 0.9
  examples:
    - { text: Example/1.2, version: '1.2', cpe: 'cpe:2.3:a:example:example:1.2:*:*:*:*:*:*:*' }
`;

test('a catalogue file adds signatures to the builtin ones', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'catalogue-'));
  try {
    const file = join(dir, 'rules.yaml');
    await writeFile(file, wellFormed);
    const catalogue = builtinRules.extendedBy({
      version: 'own',
      signatures: await readSignatureFile(file),
    });
    expect(catalogue.match('http.header.server', 'Example/1.2')[0]).toMatchObject({
      product: 'Example',
      version: '1.2',
    });
    expect(catalogue.match('ssh.software', 'OpenSSH_9.2p1')[0]?.product).toBe('OpenSSH');
  } finally {
    await rm(dir, { recursive: true });
  }
});

test('a missing file is a configuration error', async () => {
  await expect(readSignatureFile('/nonexistent/rules.yaml')).rejects.toMatchObject({ code: 'configuration' });
});

test.each(['/dev/zero', '/dev'])('%s is rejected as a file of rules', async (file) => {
  await expect(readSignatureFile(file)).rejects.toThrow(`${file}: is not a regular file`);
});

test.each([
  ['an unknown field', `${wellFormed}  color: red\n`, /rules\.yaml:2: color is an unknown field/],
  [
    'a pattern with look-ahead',
    wellFormed.replace("'^Example", "'^(?=x)Example"),
    /rules\.yaml:2: pattern does not/,
  ],
  [
    'an example that does not match',
    wellFormed.replace('text: Example/1.2', 'text: Other/1.2'),
    /does not match/,
  ],
  [
    'an example with another version',
    wellFormed.replace("version: '1.2', cpe", "version: '1.3', cpe"),
    /not 1\.3/,
  ],
  [
    'a second record of the same id',
    wellFormed + wellFormed,
    /rules\.yaml:14: id "http\.example" is used twice/,
  ],
  ['certainty above 1', wellFormed.replace('0.9', '9'), /certainty must be/],
  ['broken YAML', '- id: [\n', /rules\.yaml:\d+/],
  ['no list', 'id: x\n', /rules\.yaml:1: must be a list/],
])('%s is refused with file and line', (_, text, message) => {
  expect(() => parseSignatures(text, 'rules.yaml')).toThrow(message);
});

const numbered = {
  id: 'own.box',
  service: null,
  source: 'banner.raw',
  pattern: '^Box (?P<name>[a-z]+) (\\d+)(?:-(x))?',
  product: 'Box {name}',
  vendor: null,
  version: '{2}',
  cpe: { part: 'h', vendor: 'box', product: 'box_{1}', update: '{3}' },
  certainty: 0.5,
  hardware: { type: 'router', product: '{1}' },
  facts: { series: '{1}-{2}', extra: '{3}' },
  examples: [
    {
      text: 'Box pro 7',
      product: 'Box pro',
      version: '7',
      hardware: 'router pro',
      facts: { series: 'pro-7' },
    },
  ],
} as const;

test('templates take groups by name and by number, in every value', () => {
  expect(signatureProblems(numbered)).toEqual([]);
  const [match] = new RuleCatalog([numbered as unknown as Signature]).match('banner.raw', 'Box pro 7');
  expect(match).toMatchObject({
    product: 'Box pro',
    version: '7',
    cpe: 'cpe:2.3:h:box:box_pro:*:*:*:*:*:*:*:*',
    hardware: { type: 'router', vendor: null, product: 'pro' },
    facts: { series: 'pro-7' },
  });
  expect(match?.facts).not.toHaveProperty('extra');
});

test.each([
  ['category', 'Web Server', /category must be/],
  ['tags', 'web', /tags must be a list/],
  ['hardware', { type: 7 }, /hardware must be \{type\?, vendor\?, product\?\}/],
  ['hardware', { kind: 'router' }, /hardware must be/],
  ['facts', { 'a b': 'x' }, /facts must be/],
  ['facts', ['x'], /facts must be/],
  ['os', { family: 'linux', edition: 'x' }, /os must be/],
  ['examples', [{ text: 'Box pro 7', facts: { series: 'other' } }], /gives facts\.series pro-7, not other/],
  ['examples', [{ text: 'Box pro 7', colour: 'red' }], /examples must be/],
  ['pattern', 'x'.repeat(5000), /longer than 4096/],
  ['pattern', '[a-z]{1000}'.repeat(5), /more than 4096 steps/],
])('a wrong %s is told', (field, value, message) => {
  const problems = signatureProblems({ ...numbered, [field]: value });
  expect(problems.map((problem) => `${problem.field} ${problem.reason}`).join()).toMatch(message);
});

test('the patch level of OpenSSH is an update in its CPE name', () => {
  const cpe = builtinRules.match('ssh.software', 'OpenSSH_9.2p1')[0]?.cpe;
  expect(cpe).toBe('cpe:2.3:a:openbsd:openssh:9.2:p1:*:*:*:*:*:*');
});

function many(count: number): Signature[] {
  return Array.from({ length: count }, (_, number) => ({
    id: `many.n${number}`,
    service: null,
    source: 'banner.raw',
    pattern: `word${'x'.repeat(number % 5)}-${number}\\b`,
    product: `Product ${number}`,
    vendor: null,
    certainty: 0.5,
    examples: [],
  }));
}

test('a text that holds the words of all imported rules is tried by few of them, and by every builtin one', () => {
  const imported = many(3000);
  const own = many(100).map((signature) => ({ ...signature, id: `own.${signature.id}` }));
  const catalogue = new RuleCatalog([...imported, ...own], 'test', imported);
  const text = imported
    .map(({ pattern }) => pattern.slice(0, -2))
    .join(' ')
    .slice(0, 4096);
  const found = catalogue.match('banner.raw', text);
  expect(found.filter(({ rule }) => rule.startsWith('own.'))).toHaveLength(100);
  expect(found.length - 100).toBeGreaterThan(40);
  expect(found.length - 100).toBeLessThanOrEqual(64);
  expect(catalogue.match('banner.raw', 'word-2500 and wordx-1').map(({ product }) => product)).toEqual([
    'Product 1',
    'Product 2500',
    'Product 1',
  ]);
});

test('a catalogue that was extended names all of it, and what came last goes first', () => {
  const base = builtinRules.extendedBy({ version: 'a@1', signatures: many(1) });
  const both = base.extendedBy({ version: 'b@2', signatures: many(2) });
  expect(both.version).toBe(`${builtinRules.version}+a@1+b@2`);
  expect(both.signatures).toHaveLength(builtinRules.signatures.length + 3);
  expect(both.match('banner.raw', 'word-0').map(({ product }) => product)).toEqual([
    'Product 0',
    'Product 0',
  ]);
});

test('of 5,000 imported rules 64 are tried on a bait of 64 KiB, on its first 4096 characters', () => {
  const imported = many(5000);
  const catalogue = new RuleCatalog(imported, 'test', imported);
  const words = imported.map(({ pattern }) => pattern.slice(0, -2));
  const matcher = vi.spyOn(RE2JS.prototype, 'matcher');
  for (const bait of [words.join(' '), words.reverse().join('\n'), 'word-', 'wordxxxx', 'x']) {
    matcher.mockClear();
    catalogue.match('banner.raw', bait.repeat(Math.ceil(65_536 / bait.length)).slice(0, 65_536));
    const lengths = matcher.mock.calls.map(([text]) => String(text).length);
    expect(lengths.length, bait.slice(0, 20)).toBeLessThanOrEqual(64);
    expect(lengths.every((length) => length <= 4096)).toBe(true);
  }
  matcher.mockRestore();
});
