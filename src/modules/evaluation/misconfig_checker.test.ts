import { describe, expect, it } from 'vitest';
import { checkBanners, findingIds } from '../../../test/check-banners.ts';
import { bannerOf } from '../../../test/module-trial.ts';
import { validateOptions } from '../../engine/options.ts';
import { checkIds } from '../../knowledge/checks/all.ts';
import { certificateDer } from '../../knowledge/protocols/test-certificate.ts';
import checker from './misconfig_checker.ts';

const http = (head: string, body = '') => `HTTP/1.1 ${head}\r\n\r\n${body}`;

/** UTCTime, some days from now. */
const day = (days: number) =>
  `${new Date(Date.now() + days * 86_400_000).toISOString().replace(/\D/g, '').slice(2, 14)}Z`;
const certificate = (options: Partial<Parameters<typeof certificateDer>[0]>) =>
  certificateDer({
    commonName: 'www.example.net',
    issuer: 'Example CA',
    notBefore: day(-30),
    notAfter: day(60),
    sans: [options.commonName ?? 'www.example.net'],
    ...options,
  }).toString('base64');
const tls = (options: Parameters<typeof certificate>[0] = {}) => ({
  tls: { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', alpn: null, chain: [certificate(options)] },
});

const emptyEnumeration = {
  accepted: [],
  groups: [],
  dh_bits: null,
  export_rsa_bits: null,
  alpn_protocols: [],
  compression: null,
  secure_renegotiation: null,
  extended_master_secret: null,
  session_tickets: null,
  fallback_scsv: null,
  other_chains: [],
  handshakes: 1,
  complete: true,
};

describe('web servers', () => {
  it.each([
    ['max-age=31536000; includeSubDomains; preload', []],
    ['includeSubDomains; max-age="15768000"', []],
    ['max-age=60', ['http-hsts-short']],
    ['max-age=0', ['http-hsts-short']],
    ['includeSubDomains', ['http-hsts-short']],
    ['x-max-age=31536000', ['http-hsts-short']],
  ])('Strict-Transport-Security: %s', async (promise, ids) => {
    const response = http(`200 OK\r\nStrict-Transport-Security: ${promise}`, 'ok');
    expect(await findingIds([bannerOf(80, response, { probe: 'http' })])).toEqual([]);
    expect(await findingIds([bannerOf(443, response, { probe: 'http', ...tls() })])).toEqual(ids);
  });

  const page = 'Content-Type: text/html';
  it.each([
    ['missing headers', http(`200 OK\r\n${page}`, '<p>'), ['http-security-headers']],
    ['no page', http('200 OK\r\nContent-Type: application/json', '{}'), []],
    ['a redirect', http(`302 Found\r\n${page}\r\nLocation: /x`), []],
    [
      'all headers',
      http(
        `200 OK\r\n${page}\r\nContent-Security-Policy: frame-ancestors 'none'\r\nX-Content-Type-Options: nosniff`,
        '<p>',
      ),
      [],
    ],
    [
      'basic authentication',
      http('401 Unauthorized\r\nWWW-Authenticate: Basic realm="admin"'),
      ['http-basic-auth-cleartext'],
    ],
    ['other authentication', http('401 Unauthorized\r\nWWW-Authenticate: Negotiate'), []],
    [
      'a listing',
      http('200 OK', '<title>Index of /</title><a href="a.txt">a</a>'),
      ['http-directory-listing'],
    ],
    ['a page about listings', http('200 OK', '<title>Index of names</title><a href="/">x</a>'), []],
    ['a default page', http('200 OK', '<title>Welcome to nginx!</title>'), ['http-default-page']],
    [
      'a default page in a comment',
      http('200 OK', '<!-- <title>Welcome to nginx!</title> --><title>Staff</title>'),
      [],
    ],
    ['a listing in a script', http('200 OK', '<script>"<title>Index of /</title>"</script><a href=x>'), []],
    [
      'a Debian page',
      http('200 OK', '<title>Apache2 Debian Default Page: It works</title>'),
      ['http-default-page'],
    ],
    [
      'Elasticsearch',
      http('200 OK', '{"cluster_name" : "es","version":{"lucene_version" : "9.7.0"}}'),
      ['elasticsearch-no-auth'],
    ],
    [
      'Elasticsearch with a login',
      http('401 Unauthorized\r\nWWW-Authenticate: ApiKey', '{"cluster_name":"es"}'),
      [],
    ],
  ])('%s', async (_name, response, ids) => {
    expect(await findingIds([bannerOf(80, response, { probe: 'http' })])).toEqual(ids);
  });

  it('requires HSTS over TLS only, where Basic passwords are encrypted', async () => {
    const response = http('401 Unauthorized\r\nWWW-Authenticate: Basic realm="x"');
    expect(await findingIds([bannerOf(443, response, { probe: 'http', ...tls() })])).toEqual([]);
    const [found] = await checkBanners([
      bannerOf(443, http(`200 OK\r\n${page}`, '<p>'), { probe: 'http', ...tls() }),
    ]);
    expect(found?.evidence).toContain('Strict-Transport-Security');
  });

  it('does not treat a UDP response as a web page', async () => {
    const ssdp = bannerOf(
      1900,
      http('200 OK\r\nContent-Type: text/html', '<title>Index of /</title><a href=x>'),
    );
    expect(await findingIds([{ ...ssdp, protocol: 'udp', probe: 'udp-ssdp' }])).toEqual([]);
  });
});

describe('certificates', () => {
  const name = (value: string) => ({ targets: [{ kind: 'hostname', value, ip: '192.0.2.1' }] });
  it.each([
    ['good', {}, []],
    ['expired', { notAfter: day(-1) }, ['tls-cert-expired']],
    ['near its end', { notAfter: day(10) }, ['tls-cert-expires-soon']],
    ['that lives for days', { notBefore: day(-2), notAfter: day(5) }, []],
    ['that lives for days, late', { notBefore: day(-5), notAfter: day(2) }, ['tls-cert-expires-soon']],
    ['of the future', { notBefore: day(1) }, ['tls-cert-not-yet-valid']],
    ['for years', { notAfter: day(900) }, ['tls-cert-long-validity']],
    ['without a name', { sans: [] }, ['tls-cert-no-san']],
    ['for a domain', { sans: ['example.net', '*.example.net'] }, ['tls-cert-wildcard']],
    ['self-signed', { issuer: 'www.example.net', signed: true }, ['tls-cert-self-signed']],
  ])('%s', async (_name, options, ids) => {
    expect(await findingIds([bannerOf(443, '', tls(options))])).toEqual(ids);
  });

  it('knows no public authority for a chain that others signed, and evaluates the chain', async () => {
    const above = certificate({ commonName: 'Example CA', issuer: 'Root', notAfter: day(-3) });
    const [own] = tls().tls.chain as [string];
    const of = async (...chain: string[]) =>
      (await checkBanners([bannerOf(443, '', { tls: { ...tls().tls, chain } })])).map(({ id }) => id);
    expect(await of(own)).toEqual(['tls-cert-unknown-authority']);
    expect(await of(own, above)).toEqual(['tls-cert-unknown-authority', 'tls-cert-chain-expired']);
    expect(await of(own, certificate({ commonName: 'Another', issuer: 'Root' }))).toEqual([
      'tls-cert-unknown-authority',
      'tls-cert-wrong-order',
    ]);
  });

  it('the certificate for keys of another kind counts as well', async () => {
    const survey = { ...emptyEnumeration, other_chains: [[certificate({ notAfter: day(-1) })]] };
    expect(await findingIds([bannerOf(443, '', { tls: { ...tls().tls, survey } })])).toEqual([
      'tls-cert-expired',
    ]);
  });

  it('must match the requested name; an address is not compared', async () => {
    const of = async (commonName: string, requested: string) =>
      (
        await checkBanners(
          [bannerOf(443, '', tls({ commonName }))],
          { checks: 'tls-cert-wrong-name' },
          name(requested),
        )
      ).map(({ id }) => id);
    expect(await of('www.example.net', 'WWW.example.net')).toEqual([]);
    expect(await of('*.example.net', 'www.example.net')).toEqual([]);
    expect(await of('*.example.net', 'a.www.example.net')).toEqual(['tls-cert-wrong-name']);
    expect(await of('*.example.net', 'example.net')).toEqual(['tls-cert-wrong-name']);
    expect(await of('*.net', 'example.net')).toEqual(['tls-cert-wrong-name']);
    expect(await findingIds([bannerOf(443, '', tls())])).toEqual([]);
  });
});

describe('other responses', () => {
  it.each([
    ['Telnet', 23, '\xff\xfd\x18\xff\xfb\x01login: ', {}, ['telnet-cleartext']],
    ['memcached', 11_211, 'VERSION 1.6.18\r\n', {}, ['memcached-no-auth']],
    ['FTP with TLS', 21, '220 ProFTPD\r\n211-Features:\r\n AUTH TLS\r\n211 End\r\n', { probe: 'ftp' }, []],
    ['FTP whose features nobody asked for', 21, '220 ProFTPD FTP\r\n', { probe: 'ftp' }, []],
    ['FTP that knows no features', 21, '220 Old FTP\r\n500 what?\r\n', { probe: 'ftp' }, ['ftp-cleartext']],
    [
      'DNS over TCP',
      53,
      '\0\x0c\x50\x4f\x80\x80\0\0\0\0\0\0\0\0',
      { probe: 'dns-tcp' },
      ['dns-open-recursion'],
    ],
    ['DNS without recursion', 53, '\0\x0c\x50\x4f\x80\0\0\0\0\0\0\0\0\0', { probe: 'dns-tcp' }, []],
    ['silence', 1, '', {}, []],
  ])('%s', async (_name, port, response, more, ids) => {
    expect(await findingIds([bannerOf(port, response, more)])).toEqual(ids);
  });

  it('reports a version from a fingerprint, but not one that the protocol requires', async () => {
    const fingerprint = {
      host: '192.0.2.1',
      port: 80,
      protocol: 'tcp',
      match: 'http',
      product: 'nginx',
      vendor: 'f5',
      version: '1.22.1',
      cpe: null,
      confidence: 0.9,
      source: 'http',
      evidence: 'server: nginx/1.22.1',
      alternatives: [],
    };
    const ssh = {
      ...fingerprint,
      port: 22,
      match: 'ssh',
      evidence: 'SSH-2.0-OpenSSH_9.2p1',
      version: '9.2p1',
    };
    const guessed = { ...fingerprint, port: 81, evidence: 'favicon' };
    const found = await checkBanners(
      [],
      {},
      { service_fingerprints: [fingerprint, ssh, guessed, fingerprint] },
    );
    expect(found).toMatchObject([
      { id: 'version-disclosure', port: 80, detected: '1.22.1', severity: 'info' },
    ]);
  });
});

describe('hostile responses', () => {
  const size = 64 * 1024;
  const copies = 15;
  const pages = [
    '<title>',
    '<title>Welcome page</title>',
    '<title>Index of /',
    '<title> ',
    '"cluster_name" ',
    ' ',
    '<a ',
  ];
  const lines = ['220 ftp ', '\n530 log ', '@RSYNCD: 1\n', 'a\t', '\xff\xfb', 'RFB 003.008\n'];
  const baits = [
    ...pages.map((page) => http('200 OK\r\nContent-Type: text/html', page.repeat(size / page.length))),
    ...lines.map((line) => line.repeat(size / line.length)),
    `@RSYNCD: 31.0\n${`${' x'.repeat(100)}\t\n`.repeat(300)}@RSYNCD: EXIT\n`,
  ];

  // A check whose time grows with the square of the bait would take minutes for all of them.
  it.each(baits)('evaluates bait %# in linear time', async (bait) => {
    const banners = ['http', 'ftp', 'null', 'etcd-count'].flatMap((probe) =>
      Array.from({ length: copies }, (_, at) => bannerOf(80 + at, bait, { probe })),
    );
    await checkBanners(banners);
  });
});

describe('the option', () => {
  it('runs only the requested checks and publishes a finding once', async () => {
    const banner = bannerOf(80, http('200 OK', '<title>Index of /</title><a href=x>'), { probe: 'http' });
    const redis = bannerOf(6379, '$30\r\n# Server\r\nredis_version:7.0.15\r\n\r\n');
    const found = await checkBanners([banner, redis, redis], { checks: 'redis-no-auth, memcached-no-auth' });
    expect(found.map(({ id }) => id)).toEqual(['redis-no-auth']);
  });

  it('refuses what is no check, with the nearest name', () => {
    const problems = (checks: unknown) => validateOptions(checker.options, { checks }).problems;
    expect(problems('redis-noauth')).toMatchObject([
      { field: 'checks', reason: expect.stringContaining('did you mean redis-no-auth?') },
    ]);
    expect(problems(' , ')).toHaveLength(1);
    expect(problems(['smb-v1'])).toHaveLength(1);
    expect(problems(checkIds.join(','))).toEqual([]);
  });
});

describe('further sites of a port', () => {
  it('add their findings and the evidence by name', async () => {
    const page = http('200 OK\r\nContent-Type: text/html', '<p>');
    const site = (name: string, notAfter: string) => ({
      ...bannerOf(443, page, { probe: 'http', ...tls({ commonName: name, notAfter }) }),
      name,
    });
    const sites = [site('v2.test', day(-3)), site('v3.test', day(60))];
    const main = bannerOf(443, page, { probe: 'http', ...tls({ commonName: 'v1.test' }), sites });
    const targets = ['v1.test', 'v2.test', 'v3.test'].map((value) => ({
      kind: 'hostname',
      value,
      ip: main.host,
    }));
    const found = await checkBanners([main], {}, { targets });
    const evidenceOf = (id: string) => found.filter((each) => each.id === id).map(({ evidence }) => evidence);
    expect(evidenceOf('tls-cert-expired')).toEqual([expect.stringMatching(/^v2\.test: CN=v2\.test/)]);
    expect(evidenceOf('http-security-headers')).toEqual([
      expect.stringMatching(/\(also v2\.test, v3\.test\)$/),
    ]);
    expect(evidenceOf('tls-cert-wrong-name')).toEqual([]);
  });
});
