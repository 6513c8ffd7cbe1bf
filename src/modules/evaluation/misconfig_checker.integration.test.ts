import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import {
  httpResponse,
  mongodbResponse,
  responding,
  rpcResponse,
  smb1Response,
  smb2Response,
  snmpResponse,
  x11Admission,
} from '../../../test/fixed-responses.ts';
import { bannerOf, closeServers, listen, tryModule } from '../../../test/module-trial.ts';
import type { HostFinding } from '../../domain/finding.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { validateOptions } from '../../engine/options.ts';
import { checkIds } from '../../knowledge/checks/all.ts';
import { certificateDer, privateKey } from '../../knowledge/protocols/test-certificate.ts';
import grabber from '../scanner/banner_grabber.ts';
import checker from './misconfig_checker.ts';

const agents: UdpSocket[] = [];

afterEach(() => {
  closeServers();
  for (const agent of agents.splice(0)) agent.close();
});

/** Findings over banners as they are. */
async function judge(
  banners: readonly Banner[],
  config: Record<string, unknown> = {},
  inputs: Record<string, readonly unknown[]> = {},
): Promise<HostFinding[]> {
  const all = { service_fingerprints: [], banners, ...inputs };
  const { published } = await tryModule(checker, { inputs: all, config });
  return (published.get('vulnerabilities') ?? []) as HostFinding[];
}

/** No certificate of these tests is of a public authority, so what says that is left out. */
async function idsOf(banners: readonly Banner[]): Promise<string[]> {
  return (await judge(banners)).map(({ id }) => id).filter((id) => id !== 'tls-cert-unknown-authority');
}

/** What the grabber hears from a port, judged. */
async function scan(
  port: number,
  { host = '127.0.0.1', protocol = 'tcp', config = {} as Record<string, unknown> } = {},
): Promise<HostFinding[]> {
  const open = { host, port, protocol, state: 'open', reason: 'syn-ack' };
  const { published } = await tryModule(grabber, {
    inputs: { open_ports: [open] },
    config: { timeout: '600ms', retries: 0, tls: false, ...config },
    targets: [host],
  });
  return await judge((published.get('banners') ?? []) as Banner[]);
}

describe('from the wire to the finding', () => {
  it('Redis without a password; with one there is no finding', async () => {
    const info = '# Server\r\nredis_version:7.0.15\r\nos:Linux\r\n';
    const open = await listen(
      responding((request) =>
        String(request).startsWith('INFO') ? `$${info.length}\r\n${info}\r\n` : '-ERR unknown command\r\n',
      ),
    );
    expect(await scan(open)).toMatchObject([
      {
        id: 'redis-no-auth',
        severity: 'critical',
        evidence: 'redis_version:7.0.15',
        port: open,
        plugin: 'misconfig_checker',
      },
    ]);
    const shut = await listen(responding(() => '-NOAUTH Authentication required.\r\n'));
    expect(await scan(shut)).toEqual([]);
  });

  it('VNC with and without a password', async () => {
    const vnc = (types: string) => responding(() => types, 'RFB 003.008\n');
    const [found] = await scan(await listen(vnc('\x02\x01\x02')));
    expect(found).toMatchObject({ id: 'vnc-no-auth', evidence: 'RFB 3.8, security types 1, 2 (1 = None)' });
    expect(await scan(await listen(vnc('\x01\x02')))).toEqual([]);
  });

  it('a Docker API; a web server behind the same path is none', async () => {
    const docker = responding((request) =>
      String(request).startsWith('GET /version ')
        ? httpResponse(
            '200 OK',
            { Server: 'Docker/24.0.5 (linux)' },
            '{"Version":"24.0.5","ApiVersion":"1.43"}',
          )
        : httpResponse(
            '404 Not Found',
            { Server: 'Docker/24.0.5 (linux)', 'Api-Version': '1.43' },
            '{"message":"page not found"}',
          ),
    );
    const [found] = await scan(await listen(docker));
    expect(found).toMatchObject({ id: 'docker-api-no-auth', severity: 'critical' });
    expect(found?.evidence).toContain('"ApiVersion":"1.43"');
    const page = responding(() => httpResponse('404 Not Found', { Server: 'nginx' }, 'no'));
    expect(await scan(await listen(page))).toEqual([]);
  });

  it('etcd that counts its keys for anyone, and one that asks who it is', async () => {
    const etcd = (count: string, status: string) =>
      responding((request) => {
        const text = String(request);
        if (text.startsWith('GET /version '))
          return httpResponse('200 OK', {}, '{"etcdserver":"3.5.16","etcdcluster":"3.5.0"}');
        if (text.startsWith('POST /v3/kv/range ')) return httpResponse(status, {}, count);
        return httpResponse('404 Not Found', {}, '404 page not found\n');
      });
    const header = '{"header":{"cluster_id":"1","member_id":"2","revision":"5","raft_term":"3"},"count":"4"}';
    const host = '127.21.0.1';
    await listen(etcd(header, '200 OK'), host, 2379);
    const found = await scan(2379, { host });
    expect(found.map(({ id }) => id)).toEqual(['etcd-exposed', 'etcd-no-auth']);
    const guarded = '127.21.0.2';
    await listen(
      etcd('{"error":"etcdserver: user name is empty","code":3}', '400 Bad Request'),
      guarded,
      2379,
    );
    expect((await scan(2379, { host: guarded })).map(({ id }) => id)).toEqual(['etcd-exposed']);
  });

  it('a kubelet that shows its pods, and one that forbids it', async () => {
    const kubelet = (status: string, body: string) =>
      responding((request) =>
        String(request).startsWith('GET /pods ')
          ? httpResponse(status, {}, body)
          : httpResponse('404 Not Found', {}, '404 page not found\n'),
      );
    const host = '127.21.0.3';
    await listen(kubelet('200 OK', '{"kind":"PodList","apiVersion":"v1","items":[]}'), host, 10_255);
    expect(await scan(10_255, { host })).toMatchObject([{ id: 'kubelet-anonymous' }]);
    const guarded = '127.21.0.4';
    await listen(kubelet('401 Unauthorized', 'Unauthorized'), guarded, 10_255);
    expect(await scan(10_255, { host: guarded })).toEqual([]);
  });

  it('a kubelet behind TLS, which is asked on through TLS', async () => {
    const host = '127.21.0.13';
    const kubelet = createTlsServer(
      {
        key: privateKey().export({ type: 'pkcs8', format: 'pem' }),
        cert: pem(certificateDer({ commonName: 'node', signed: true })),
      },
      responding((request) =>
        String(request).startsWith('GET /pods ')
          ? httpResponse('200 OK', {}, '{"kind":"PodList","items":[]}')
          : httpResponse('404 Not Found', {}, '404 page not found\n'),
      ),
    );
    kubelet.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => kubelet.listen(10_250, host, resolve));
    const found = await scan(10_250, { host, config: { tls: true } });
    kubelet.close();
    expect(found.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['kubelet-anonymous', 'tls-cert-self-signed']),
    );
  });

  it('MongoDB with and without access control', async () => {
    const mongodb = (list: Buffer) =>
      responding((request) =>
        request.includes('buildInfo')
          ? mongodbResponse({ version: '7.0.14', ok: 1 })
          : request.includes('listDatabases')
            ? list
            : null,
      );
    const host = '127.21.0.5';
    await listen(mongodb(mongodbResponse({ databases: { 0: { name: 'shop' } }, ok: 1 })), host, 27_017);
    expect(await scan(27_017, { host })).toMatchObject([
      { id: 'mongodb-no-auth', evidence: 'listDatabases: shop' },
    ]);
    const guarded = '127.21.0.6';
    await listen(mongodb(mongodbResponse({ ok: 0, codeName: 'Unauthorized' })), guarded, 27_017);
    expect(await scan(27_017, { host: guarded })).toEqual([]);
  });

  it('an X server, Remote Desktop and NFS', async () => {
    const host = '127.21.0.7';
    await listen(
      responding(() => x11Admission('The X.Org Foundation')),
      host,
      6000,
    );
    await listen(
      responding(() => Buffer.from([3, 0, 0, 19, 14, 0xd0, 0, 0, 1, 2, 0, 2, 0, 8, 0, 1, 0, 0, 0])),
      host,
      3389,
    );
    await listen(
      responding(() => rpcResponse()),
      host,
      2049,
    );
    expect(await scan(6000, { host })).toMatchObject([{ id: 'x11-open' }]);
    expect(await scan(3389, { host })).toMatchObject([
      { id: 'rdp-no-nla', evidence: 'negotiation response, selected protocol 1' },
    ]);
    expect(await scan(2049, { host })).toMatchObject([{ id: 'nfs-exposed' }]);
    const guarded = '127.21.0.8';
    await listen(
      responding(() => Buffer.from([3, 0, 0, 19, 14, 0xd0, 0, 0, 1, 2, 0, 3, 0, 8, 0, 5, 0, 0, 0])),
      guarded,
      3389,
    );
    expect(await scan(3389, { host: guarded })).toEqual([]);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'SMB 1 beside SMB 2, asked on connections of their own (ports below 1024: root)',
    async () => {
      const host = '127.21.0.9';
      const smb = (old: Buffer | null) =>
        responding((request) =>
          request.includes('\xfeSMB', 0, 'latin1') ? smb2Response({ signing: 1, dialect: 0x0302 }) : old,
        );
      await listen(smb(smb1Response(0)), host, 445);
      expect((await scan(445, { host })).map(({ id }) => id)).toEqual(['smb-signing-optional', 'smb-v1']);
      const modern = '127.21.0.10';
      await listen(smb(null), modern, 445);
      expect((await scan(445, { host: modern })).map(({ id }) => id)).toEqual(['smb-signing-optional']);
      const ancient = '127.21.0.11';
      await listen(
        responding((request) => (request.includes('NT LM 0.12') ? smb1Response(0) : null)),
        ancient,
        445,
      );
      expect((await scan(445, { host: ancient })).map(({ id }) => id)).toEqual(['smb-v1']);
      await listen(
        responding(() => rpcResponse(1, 100_003, 3, 6, 2049, 0)),
        host,
        111,
      );
      expect(await scan(111, { host })).toMatchObject([
        { id: 'nfs-exposed', evidence: 'registered at the port mapper: NFS version 3 on 2049/tcp' },
      ]);
    },
  );

  it('rsync that lists its modules', async () => {
    const port = await listen(responding(() => 'web\tpages\n@RSYNCD: EXIT\n', '@RSYNCD: 31.0\n'));
    expect(await scan(port)).toMatchObject([{ id: 'rsync-modules-listed', evidence: '#list: web: pages' }]);
  });

  it('anonymous FTP is tried only where a login is allowed', async () => {
    const commands: string[] = [];
    const ftp = responding((request) => {
      const line = String(request).trim();
      commands.push(line);
      if (line === 'FEAT') return '211-Features:\r\n UTF8\r\n211 End\r\n';
      if (line.startsWith('USER')) return '331 Please specify the password.\r\n';
      if (line.startsWith('PASS')) return '230 Login successful.\r\n';
      return '215 UNIX Type: L8\r\n';
    }, '220 (vsFTPd 3.0.5)\r\n');
    const port = await listen(ftp);
    expect((await scan(port)).map(({ id }) => id)).toEqual(['ftp-cleartext']);
    expect(commands.some((line) => /^(?:USER|PASS)/.test(line))).toBe(false);
    const found = await scan(port, { config: { intrusive: true } });
    expect(found.map(({ id }) => id)).toEqual(['ftp-cleartext', 'ftp-anonymous']);
    expect(found[1]?.evidence).toBe('USER anonymous: 230 Login successful.');
  });

  it.skipIf(process.getuid?.() !== 0)('SNMP, NTP and DNS over UDP (ports below 1024: root)', async () => {
    const host = '127.21.0.12';
    const agent = async (port: number, reply: (question: Buffer) => Buffer | null) => {
      const socket = createSocket('udp4');
      agents.push(socket);
      socket.on('message', (question, { address, port: from }) => {
        const said = reply(question);
        if (said) socket.send(said, from, address);
      });
      await new Promise<void>((resolve) => socket.bind(port, host, resolve));
    };
    await agent(161, (question) =>
      question.includes('public') && question[4] === 1 ? snmpResponse({ text: 'Linux gw' }) : null,
    );
    await agent(123, (question) =>
      question[0] === 0x17
        ? Buffer.from('d700032a00020048', 'hex')
        : Buffer.concat([Buffer.from([0x1c, 2]), Buffer.alloc(46)]),
    );
    await agent(53, (question) => {
      const answer = Buffer.from(question);
      answer[2] = 0x80;
      answer[3] = 0x80;
      return answer;
    });
    const udp = { host, protocol: 'udp' };
    expect(await scan(161, udp)).toMatchObject([
      { id: 'snmp-public', protocol: 'udp', evidence: 'version 2c, sysDescr.0: Linux gw' },
    ]);
    expect(await scan(123, udp)).toMatchObject([{ id: 'ntp-monlist' }]);
    expect(await scan(53, udp)).toMatchObject([{ id: 'dns-open-recursion' }]);
  });
});

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

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

const emptySurvey = {
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
    const answer = http(`200 OK\r\nStrict-Transport-Security: ${promise}`, 'ok');
    expect(await idsOf([bannerOf(80, answer, { probe: 'http' })])).toEqual([]);
    expect(await idsOf([bannerOf(443, answer, { probe: 'http', ...tls() })])).toEqual(ids);
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
  ])('%s', async (_name, answer, ids) => {
    expect(await idsOf([bannerOf(80, answer, { probe: 'http' })])).toEqual(ids);
  });

  it('asks for HSTS over TLS only, and for no secrecy of passwords there', async () => {
    const answer = http('401 Unauthorized\r\nWWW-Authenticate: Basic realm="x"');
    expect(await idsOf([bannerOf(443, answer, { probe: 'http', ...tls() })])).toEqual([]);
    const [found] = await judge([
      bannerOf(443, http(`200 OK\r\n${page}`, '<p>'), { probe: 'http', ...tls() }),
    ]);
    expect(found?.evidence).toContain('Strict-Transport-Security');
  });

  it('an answer over UDP is no page', async () => {
    const ssdp = bannerOf(
      1900,
      http('200 OK\r\nContent-Type: text/html', '<title>Index of /</title><a href=x>'),
    );
    expect(await idsOf([{ ...ssdp, protocol: 'udp', probe: 'udp-ssdp' }])).toEqual([]);
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
    expect(await idsOf([bannerOf(443, '', tls(options))])).toEqual(ids);
  });

  it('no public authority vouches for one that others signed; the chain is judged too', async () => {
    const above = certificate({ commonName: 'Example CA', issuer: 'Root', notAfter: day(-3) });
    const [own] = tls().tls.chain as [string];
    const of = async (...chain: string[]) =>
      (await judge([bannerOf(443, '', { tls: { ...tls().tls, chain } })])).map(({ id }) => id);
    expect(await of(own)).toEqual(['tls-cert-unknown-authority']);
    expect(await of(own, above)).toEqual(['tls-cert-unknown-authority', 'tls-cert-chain-expired']);
    expect(await of(own, certificate({ commonName: 'Another', issuer: 'Root' }))).toEqual([
      'tls-cert-unknown-authority',
      'tls-cert-wrong-order',
    ]);
  });

  it('the certificate for keys of another kind counts as well', async () => {
    const survey = { ...emptySurvey, other_chains: [[certificate({ notAfter: day(-1) })]] };
    expect(await idsOf([bannerOf(443, '', { tls: { ...tls().tls, survey } })])).toEqual(['tls-cert-expired']);
  });

  it('fits the name that was asked for, and is not judged by an address', async () => {
    const of = async (commonName: string, asked: string) =>
      (
        await judge([bannerOf(443, '', tls({ commonName }))], { checks: 'tls-cert-wrong-name' }, name(asked))
      ).map(({ id }) => id);
    expect(await of('www.example.net', 'WWW.example.net')).toEqual([]);
    expect(await of('*.example.net', 'www.example.net')).toEqual([]);
    expect(await of('*.example.net', 'a.www.example.net')).toEqual(['tls-cert-wrong-name']);
    expect(await of('*.example.net', 'example.net')).toEqual(['tls-cert-wrong-name']);
    expect(await of('*.net', 'example.net')).toEqual(['tls-cert-wrong-name']);
    expect(await idsOf([bannerOf(443, '', tls())])).toEqual([]);
  });
});

describe('other answers', () => {
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
  ])('%s', async (_name, port, answer, more, ids) => {
    expect(await idsOf([bannerOf(port, answer, more)])).toEqual(ids);
  });

  it('a version that a fingerprint proves, but not one that the protocol must tell', async () => {
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
    const found = await judge([], {}, { service_fingerprints: [fingerprint, ssh, guessed, fingerprint] });
    expect(found).toMatchObject([
      { id: 'version-disclosure', port: 80, detected: '1.22.1', severity: 'info' },
    ]);
  });
});

describe('hostile answers', () => {
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
  it.each(baits)('T-014 bait %# is judged in linear time', async (bait) => {
    const banners = ['http', 'ftp', 'null', 'etcd-count'].flatMap((probe) =>
      Array.from({ length: copies }, (_, at) => bannerOf(80 + at, bait, { probe })),
    );
    await judge(banners);
  });
});

describe('the option', () => {
  it('checks only what is asked for, and tells a finding once', async () => {
    const banner = bannerOf(80, http('200 OK', '<title>Index of /</title><a href=x>'), { probe: 'http' });
    const redis = bannerOf(6379, '$30\r\n# Server\r\nredis_version:7.0.15\r\n\r\n');
    const found = await judge([banner, redis, redis], { checks: 'redis-no-auth, memcached-no-auth' });
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
