import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Applicability, evaluateApplicability } from './applicability.ts';
import type { Configuration, ConfigurationNode, CpeMatch, CveRecord } from './cve-record.ts';
import type { KnownProduct } from './known-product.ts';
import { describeRange, namedVersions } from './version-criterion.ts';

const linux = { family: 'linux', distribution: 'debian', version: '12' };
const windows = { family: 'windows', distribution: null, version: null };

/** `openbsd:openssh:9.3:p1`, or a whole name where the later attributes matter. */
function name(short: string): string {
  if (short.startsWith('cpe:')) return short;
  const values = short.split(/(?<!\\):/);
  return `cpe:2.3:a:${[...values, ...Array.from({ length: 10 - values.length }, () => '*')].join(':')}`;
}

/** A criterion; bounds are written `>=1 >1 <=2 <2`. */
function match(short: string, bounds = '', vulnerable = true): CpeMatch {
  const bound = (sign: string): string | null =>
    bounds
      .split(' ')
      .find((text) => text.replace(/[^<>=].*/, '') === sign)
      ?.slice(sign.length) ?? null;
  return {
    vulnerable,
    cpe: name(short),
    startIncluding: bound('>='),
    startExcluding: bound('>'),
    endIncluding: bound('<='),
    endExcluding: bound('<'),
  };
}

function node(operator: 'AND' | 'OR', matches: CpeMatch[], negate = false): ConfigurationNode {
  return { operator, negate, matches };
}

function configuration(operator: 'AND' | 'OR', nodes: ConfigurationNode[], negate = false): Configuration {
  return { operator, negate, nodes };
}

function record(...configurations: Configuration[]): CveRecord {
  return {
    id: 'CVE-2024-0001',
    title: null,
    description: '',
    published: '2024-01-01T00:00:00.000Z',
    modified: '2024-01-01T00:00:00.000Z',
    cvss: [],
    cwe: [],
    references: [],
    configurations,
    rejected: false,
    source: 'test',
  };
}

function anyOf(...matches: CpeMatch[]): CveRecord {
  return record(configuration('OR', [node('OR', matches)]));
}

function known(short: string, facts: Partial<KnownProduct> = {}): KnownProduct {
  return { cpe: name(short), os: null, others: [], ...facts };
}

test.each([
  // bounds
  ['openbsd:openssh:9.2:p1', match('openbsd:openssh', '>=9.1 <9.8'), 'applies'],
  ['openbsd:openssh:9.8:p1', match('openbsd:openssh', '>=9.1 <9.8'), 'not_affected'],
  ['openbsd:openssh:9.0:p1', match('openbsd:openssh', '>=9.1 <9.8'), 'not_affected'],
  ['openbsd:openssh:9.1:p1', match('openbsd:openssh', '>9.1 <9.8'), 'not_affected'],
  ['openbsd:openssh:7.7:p1', match('openbsd:openssh', '<=7.7'), 'applies'],
  ['openbsd:openssh:7.2:p2', match('openbsd:openssh', '<=7.2'), 'applies'],
  ['openbsd:openssh:7.2:p2', match('openbsd:openssh', '>7.2'), 'not_affected'],
  ['openbsd:openssh:9.3:p1', match('openbsd:openssh', '<9.3p2'), 'applies'],
  ['openbsd:openssh:9.3:p2', match('openbsd:openssh', '<9.3p2'), 'not_affected'],
  ['openssl:openssl:1.0.2k', match('openssl:openssl', '>=1.0.2 <1.0.2m'), 'applies'],
  ['openssl:openssl:1.0.2k', match('openssl:openssl', '<=1.0.2'), 'not_affected'],
  ['ntp:ntp:4.2.8:p8', match('ntp:ntp:*:p8', '<=4.2.8'), 'applies'],
  ['ntp:ntp:4.2.8:p9', match('ntp:ntp:*:p8', '<=4.2.8'), 'not_affected'],
  // versions that the record names
  ['openbsd:openssh:9.3:p1', match('openbsd:openssh:9.3:p1'), 'applies'],
  ['openbsd:openssh:9.3:p2', match('openbsd:openssh:9.3:p1'), 'not_affected'],
  ['openbsd:openssh:9.3:p1', match('openbsd:openssh:9.3:-'), 'applies'],
  ['openbsd:openssh:9.3:p2', match('openbsd:openssh:9.3:-'), 'not_affected'],
  ['openbsd:openssh:9.3:p2', match('openbsd:openssh:9.3'), 'applies'],
  ['openbsd:openssh:9.3', match('openbsd:openssh:9.3:p2'), 'unknown_version'],
  ['openbsd:openssh:9.30', match('openbsd:openssh:9.3'), 'not_affected'],
  ['proftpd:proftpd:1.3.5', match('proftpd:proftpd:1.3.5:rc1'), 'not_affected'],
  ['proftpd:proftpd:1.3.5rc1', match('proftpd:proftpd:1.3.5:rc1'), 'applies'],
  ['proftpd:proftpd:1.3.5:rc1', match('proftpd:proftpd:1.3.5:-'), 'not_affected'],
  ['isc:bind:9.11.5-P4', match('isc:bind:9.11.5:p4'), 'applies'],
  ['apache:tomcat:9.0.0.M20', match('apache:tomcat:9.0.0:milestone20'), 'applies'],
  ['eclipse:jetty:9.4.51', match('eclipse:jetty:9.4.51:-'), 'applies'],
  [
    'microsoft:exchange_server:2016',
    match('microsoft:exchange_server:2016:cumulative_update_23'),
    'unknown_version',
  ],
  ['juniper:junos:15.1X49-D60', match('juniper:junos:15.1x49:d60'), 'applies'],
  ['juniper:junos:15.1X49-D60', match('juniper:junos:15.1:r7'), 'not_affected'],
  // all, none, unknown
  ['vendor:product:1.0', match('vendor:product'), 'applies'],
  ['vendor:product', match('vendor:product'), 'applies'],
  ['vendor:product:1.0', match('vendor:product:-'), 'not_affected'],
  ['vendor:product', match('vendor:product:-'), 'unknown_version'],
  ['vendor:product', match('vendor:product', '<2'), 'unknown_version'],
  ['vendor:product', match('vendor:product:1.0'), 'unknown_version'],
  ['vendor:product:build-x', match('vendor:product', '<2'), 'unknown_version'],
  ['vendor:product:1.0', match('vendor:product', '<unknown'), 'unknown_version'],
  ['vendor:product:3.0', match('vendor:product', '>=unknown <2'), 'not_affected'],
  // parts that a server omits from its version
  ['apache:http_server:2.4', match('apache:http_server', '<2.4.50'), 'unknown_version'],
  ['apache:http_server:2.2', match('apache:http_server', '<2.4.50'), 'applies'],
  ['apache:http_server:2.4', match('apache:http_server:2.4.49'), 'unknown_version'],
  ['apache:http_server:2.4', match('apache:http_server', '<2.4'), 'not_affected'],
  ['exim:exim:4.96', match('exim:exim', '<4.96.1'), 'applies'],
  ['drupal:drupal:7', match('drupal:drupal', '<7.58'), 'unknown_version'],
  ['drupal:drupal:7', match('drupal:drupal', '>=7.0 <7.74'), 'unknown_version'],
  ['drupal:drupal:7', match('drupal:drupal', '<8.3.9'), 'applies'],
  ['drupal:drupal:7', match('drupal:drupal', '>=8.0.0 <8.3.9'), 'not_affected'],
  ['drupal:drupal:7', match('drupal:drupal:7.0'), 'unknown_version'],
  ['drupal:drupal:7.57', match('drupal:drupal', '<7.58'), 'applies'],
  ['drupal:drupal:8.x', match('drupal:drupal', '>=8.0.0 <8.3.9'), 'unknown_version'],
  ['php:php:8', match('php:php', '<8.1.29'), 'unknown_version'],
  ['php:php:8', match('php:php', '>=8.2.0 <8.2.20'), 'unknown_version'],
  ['php:php:8', match('php:php', '>=7.1.0 <7.1.33'), 'not_affected'],
  ['php:php:7', match('php:php', '>=5.6.0 <8.1.29'), 'applies'],
  ['f5:nginx:1.18', match('f5:nginx', '<1.18.3'), 'unknown_version'],
  ['f5:nginx:1.18', match('f5:nginx', '<=1.18'), 'unknown_version'],
  ['vendor:product:1.18', match('vendor:product', '<1.18.3'), 'unknown_version'],
  ['vendor:product:1.18', match('vendor:product', '>1.18.2'), 'unknown_version'],
  ['vendor:product:1.18', match('vendor:product', '>=1.18.0 <1.19'), 'applies'],
  ['vendor:product:1.18', match('vendor:product', '<1.18.0'), 'not_affected'],
  ['vendor:product:1.18', match('vendor:product', '<=1.18'), 'applies'],
  ['vendor:product:1.18', match('vendor:product:1.18.0'), 'unknown_version'],
  ['vendor:product:1', match('vendor:product', '>=1.2 <1.3'), 'unknown_version'],
  [
    'microsoft:exchange_server:15.2.858',
    match('microsoft:exchange_server', '<15.2.858.15'),
    'unknown_version',
  ],
  ['wordpress:wordpress:4.7', match('wordpress:wordpress', '>=4.7.0 <4.7.2'), 'applies'],
  ['wordpress:wordpress:4', match('wordpress:wordpress', '>=4.7.0 <4.7.2'), 'unknown_version'],
  ['cisco:ios:15.2', match('cisco:ios', '<15.2(4)m3'), 'unknown_version'],
  // other names, other products
  ['f5:nginx:1.18.0', match('nginx:nginx', '<1.20.1'), 'applies'],
  ['nginx:nginx:1.18.0', match('f5:nginx', '<1.20.1'), 'applies'],
  ['joomla:joomla\\!:3.0', match('joomla:joomla', '<4'), 'applies'],
  ['f5:nginx_plus:1.18.0', match('f5:nginx', '<1.20.1'), 'not_affected'],
  ['OpenBSD:OpenSSH:9.2:P1', match('openbsd:openssh', '<9.8'), 'applies'],
  ['cpe:2.3:o:openbsd:openssh:9.2:*:*:*:*:*:*:*', match('openbsd:openssh', '<9.8'), 'not_affected'],
  // editions and target software
  ['jenkins:jenkins:2.401.1', match('cpe:2.3:a:jenkins:jenkins:*:*:*:*:lts:*:*:*', '<2.401.2'), 'applies'],
  ['jenkins:jenkins:2.375.4', match('cpe:2.3:a:jenkins:jenkins:*:*:*:*:-:*:*:*', '<2.394'), 'not_affected'],
  [
    'isc:bind:9.18.10',
    match('cpe:2.3:a:isc:bind:*:*:*:*:supported_preview:*:*:*', '<9.18.11'),
    'not_affected',
  ],
  [
    'vendor:product:1.0',
    match('cpe:2.3:a:vendor:product:*:*:*:*:enterprise:*:*:*', '<2'),
    'platform_unproven',
  ],
  ['redis:redis:1.0', match('cpe:2.3:a:redis:redis:*:*:*:*:*:wordpress:*:*', '<2'), 'platform_unproven'],
  ['apache:tomcat:9.0.1', match('cpe:2.3:a:apache:tomcat:*:*:*:*:*:maven:*:*', '<9.0.2'), 'applies'],
])('%s and %j: %s', (short, criterion, outcome) => {
  expect(evaluateApplicability(anyOf(criterion), known(short)).outcome).toBe(outcome);
});

test('the criterion that spoke and its range are told', () => {
  const criterion = match('openbsd:openssh', '>=9.1 <9.8');
  const response = evaluateApplicability(
    anyOf(match('openbsd:openssh:4.4'), criterion),
    known('openbsd:openssh', { version: '9.2p1' }),
  );
  expect(response).toEqual({
    outcome: 'applies',
    match: criterion,
    affected: '>= 9.1, < 9.8',
    weak: false,
    reasons: ['Version 9.2p1 is within >= 9.1, < 9.8.'],
  } satisfies Applicability);
});

test.each([
  [match('a:b', '>1 <=2'), '> 1, <= 2'],
  [match('a:b:1.2\\+3'), '1.2+3'],
  [match('a:b:1.3.5:rc1'), '1.3.5 rc1'],
  [match('a:b'), 'all versions'],
  [match('a:b:-'), 'no stated version'],
  [match('ntp:ntp:*:p8', '<=4.2.8'), '<= 4.2.8p8'],
])('the range of %j is %s', (criterion, text) => {
  expect(describeRange(criterion)).toBe(text);
});

test.each([
  [match('a:b', '>=8.5p1 <9.8p1'), '8.5p1', '9.8p1'],
  [match('a:b', '>1 <=2'), null, null],
  [match('a:b', '<2'), null, '2'],
  [match('ntp:ntp:*:p8', '<4.2.8'), null, '4.2.8p8'],
  [match('a:b:1.3.5:rc1'), '1.3.5-rc1', null],
  [match('a:b:2.4.49'), '2.4.49', null],
  [match('a:b'), null, null],
  [match('a:b:-'), null, null],
])('%j names the first affected version %s and the first fixed one %s', (criterion, from, fixed) => {
  expect(namedVersions(criterion)).toEqual({ from, fixed });
});

test('a version that was seen goes before the one in the name', () => {
  const old = anyOf(match('vendor:product', '<2'));
  expect(evaluateApplicability(old, known('vendor:product:3.0', { version: '1.0' })).outcome).toBe('applies');
  expect(evaluateApplicability(old, known('vendor:product:1.0', { version: null })).outcome).toBe(
    'unknown_version',
  );
  const patched = anyOf(match('ntp:ntp', '<4.2.8p9'));
  expect(evaluateApplicability(patched, known('ntp:ntp', { version: '4.2.8', update: 'p15' })).outcome).toBe(
    'not_affected',
  );
});

test('a record without a bound is weak, unless another criterion has one', () => {
  expect(evaluateApplicability(anyOf(match('vendor:product')), known('vendor:product:1.0')).weak).toBe(true);
  const both = anyOf(match('vendor:product'), match('vendor:product', '<2'));
  expect(evaluateApplicability(both, known('vendor:product:1.0'))).toMatchObject({
    weak: false,
    affected: '< 2',
  });
});

test('withdrawn records, records without products and names that are none say nothing', () => {
  const criterion = match('vendor:product', '<2');
  expect(
    evaluateApplicability({ ...anyOf(criterion), rejected: true }, known('vendor:product:1')).outcome,
  ).toBe('not_affected');
  expect(evaluateApplicability(record(), known('vendor:product:1')).outcome).toBe('not_affected');
  expect(evaluateApplicability(record(configuration('AND', [])), known('vendor:product:1')).outcome).toBe(
    'not_affected',
  );
  const empty = record(configuration('AND', [node('OR', [])]));
  expect(evaluateApplicability(empty, known('vendor:product:1')).outcome).toBe('not_affected');
  expect(evaluateApplicability(anyOf(criterion), { cpe: 'product', os: null, others: [] }).outcome).toBe(
    'not_affected',
  );
  const broken = anyOf({ ...criterion, cpe: 'cpe:2.3:a:vendor' });
  expect(evaluateApplicability(broken, known('vendor:product:1')).outcome).toBe('not_affected');
});

/** Vulnerable below version 2 on a platform. */
function runningOn(platform: string, bounds = ''): CveRecord {
  return record(
    configuration('AND', [
      node('OR', [match('vendor:product', '<2')]),
      node('OR', [match(platform, bounds, false)]),
    ]),
  );
}

const anyWindows = 'cpe:2.3:o:microsoft:windows:-:*:*:*:*:*:*:*';
const debian12 = 'cpe:2.3:o:debian:debian_linux:12.0:*:*:*:*:*:*:*';
const debian11 = 'cpe:2.3:o:debian:debian_linux:11.0:*:*:*:*:*:*:*';
const kernel5 = 'cpe:2.3:o:linux:linux_kernel:5.4:*:*:*:*:*:*:*';
const router = 'cpe:2.3:h:vendor:router:-:*:*:*:*:*:*:*';

test.each<[string, string, Partial<KnownProduct>, string]>([
  ['nothing known of the system', anyWindows, {}, 'platform_unproven'],
  ['the system it needs', anyWindows, { os: windows }, 'applies'],
  ['another system', anyWindows, { os: linux }, 'not_affected'],
  ['some Unix', debian12, { os: { family: 'unix', distribution: null, version: null } }, 'platform_unproven'],
  ['the release it needs', debian12, { os: linux }, 'applies'],
  ['another release', debian11, { os: linux }, 'not_affected'],
  ['a kernel whose version is not known', kernel5, { os: linux }, 'platform_unproven'],
  ['hardware that nobody has seen', router, { os: linux }, 'platform_unproven'],
  ['hardware that was seen', router, { others: ['cpe:2.3:h:vendor:router:*:*:*:*:*:*:*:*'] }, 'applies'],
])('what it must run on: %s', (_, platform, facts, outcome) => {
  expect(evaluateApplicability(runningOn(platform), known('vendor:product:1.0', facts)).outcome).toBe(
    outcome,
  );
  // The platform is not vulnerable itself, and an unaffected version stays unaffected.
  expect(evaluateApplicability(runningOn(platform), known('vendor:product:2.0', facts)).outcome).toBe(
    'not_affected',
  );
});

test.each([
  ['php:php:7.0', 'applies'],
  ['php:php:8.0', 'not_affected'],
  ['php:php', 'platform_unproven'],
])('what it must run with: %s', (other, outcome) => {
  const both = runningOn('php:php', '<7.3');
  expect(evaluateApplicability(both, known('vendor:product:1.0', { others: [name(other)] })).outcome).toBe(
    outcome,
  );
});

test('a product that is only the platform is not affected', () => {
  const about = runningOn('apache:http_server', '<2.4');
  expect(evaluateApplicability(about, known('apache:http_server:2.2.1')).outcome).toBe('not_affected');
});

test('software for one system is no flaw on another', () => {
  const criterion = match('cpe:2.3:a:vendor:product:*:*:*:*:*:windows:*:*', '<2');
  expect(evaluateApplicability(anyOf(criterion), known('vendor:product:1', { os: windows })).outcome).toBe(
    'applies',
  );
  expect(evaluateApplicability(anyOf(criterion), known('vendor:product:1', { os: linux })).outcome).toBe(
    'not_affected',
  );
  expect(evaluateApplicability(anyOf(criterion), known('vendor:product:1')).outcome).toBe(
    'platform_unproven',
  );
  const phone = match('cpe:2.3:a:vendor:product:*:*:*:*:*:iphone_os:*:*', '<2');
  const cisco = { family: 'ios', distribution: null, version: null };
  expect(evaluateApplicability(anyOf(phone), known('vendor:product:1', { os: cisco })).outcome).toBe(
    'not_affected',
  );
});

test('both editions of a product are the product', () => {
  const about = (edition: string) =>
    match(`cpe:2.3:a:gitlab:gitlab:*:*:*:*:${edition}:*:*:*`, '>=15.0 <15.1.2');
  const gitlab = known('gitlab:gitlab:15.1.0');
  expect(evaluateApplicability(anyOf(about('enterprise')), gitlab).outcome).toBe('platform_unproven');
  expect(evaluateApplicability(anyOf(about('enterprise'), about('community')), gitlab).outcome).toBe(
    'applies',
  );
  const newer = anyOf(about('enterprise'), match('cpe:2.3:a:gitlab:gitlab:*:*:*:*:community:*:*:*', '<15.0'));
  expect(evaluateApplicability(newer, gitlab).outcome).toBe('platform_unproven');
});

test('AND within a node and negation are honoured', () => {
  const both = record(
    configuration('OR', [node('AND', [match('vendor:product', '<2'), match('php:php', '<7')])]),
  );
  const withPhp = (version: string) => known('vendor:product:1', { others: [name(`php:php:${version}`)] });
  expect(evaluateApplicability(both, withPhp('5.0')).outcome).toBe('applies');
  expect(evaluateApplicability(both, withPhp('7.0')).outcome).toBe('not_affected');
  const unless = record(
    configuration('AND', [
      node('OR', [match('vendor:product', '<2')]),
      node('OR', [match('php:php', '>=7', false)], true),
    ]),
  );
  expect(evaluateApplicability(unless, withPhp('5.0')).outcome).toBe('applies');
  expect(evaluateApplicability(unless, withPhp('7.0')).outcome).toBe('not_affected');
  expect(evaluateApplicability(unless, known('vendor:product:1')).outcome).toBe('platform_unproven');
  const not = record(configuration('OR', [node('OR', [match('vendor:product', '>=2')])], true));
  expect(evaluateApplicability(not, known('vendor:product:1')).outcome).toBe('applies');
  expect(evaluateApplicability(not, known('vendor:product:2')).outcome).toBe('not_affected');
});

test('evaluates any record for any product', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary-ascii', maxLength: 20 }),
    fc.constantFrom('*', '-', '1.0', 'p1', '9.2p1'),
  );
  const cpe = fc.oneof(
    text,
    fc
      .tuple(fc.constantFrom('a', 'o', 'h'), text, text)
      .map(([part, version, update]) => `cpe:2.3:${part}:vendor:product:${version}:${update}:*:*:*:*:*:*`),
  );
  const bound = fc.option(text);
  const criterion = fc.record({
    vulnerable: fc.boolean(),
    cpe,
    startIncluding: bound,
    startExcluding: bound,
    endIncluding: bound,
    endExcluding: bound,
  });
  const operator = fc.constantFrom<'AND' | 'OR'>('AND', 'OR');
  const nodes = fc.array(
    fc.record({ operator, negate: fc.boolean(), matches: fc.array(criterion, { maxLength: 4 }) }),
    { maxLength: 3 },
  );
  const configurations = fc.array(fc.record({ operator, negate: fc.boolean(), nodes }), { maxLength: 2 });
  const product = fc.record({
    cpe,
    version: fc.option(text),
    os: fc.option(fc.record({ family: text, distribution: fc.option(text), version: fc.option(text) })),
    others: fc.array(cpe, { maxLength: 2 }),
  });
  fc.assert(
    fc.property(configurations, product, (list, facts) => {
      const response = evaluateApplicability(record(...list), facts);
      expect(response.outcome === 'not_affected').toBe(response.match === null);
      if (response.match) expect(response.match.vulnerable).toBe(true);
    }),
    { numRuns: 1000 },
  );
});
