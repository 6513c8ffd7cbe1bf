import { expect, test } from 'vitest';
import { type Banner, describeBytes } from '../../domain/text/banner.ts';
import { sipOptions } from '../requests/sip-request.ts';
import { claimsOf, PortClaims, resolveClaims } from './claims.ts';
import { builtinRules } from './rule-catalog.ts';

const endpoint = { host: '192.0.2.1', port: 4242, protocol: 'tcp' } as const;
const rules = { minConfidence: 0.5, maxProtocols: 3 };

function bannerOf(response: string | Buffer, more: Partial<Banner> = {}): Banner {
  const bytes = typeof response === 'string' ? Buffer.from(response, 'latin1') : response;
  return { ...endpoint, ...describeBytes(bytes), probe: 'null', truncated: false, partial: false, ...more };
}

function name(banner: Banner) {
  return resolveClaims(banner, claimsOf(banner, builtinRules, ['banner', 'http', 'tls']), rules);
}

function exchange(...steps: [sent: string, received: string][]): Partial<Banner> {
  const b64 = (text: string) => Buffer.from(text, 'latin1').toString('base64');
  return {
    exchange: steps.map(([sent, received]) => ({ sent_b64: b64(sent), received_b64: b64(received) })),
  };
}

function mysqlGreeting(version: string): string {
  const payload = `\x0a${version}\0\x08\0\0\0abcdefgh\0\xff\xf7\x08\x02\0\xff\x81\x15${'\0'.repeat(10)}`;
  return `${String.fromCharCode(payload.length)}\0\0\0${payload}`;
}

function postgresError(code: string, text: string): string {
  const fields = `SFATAL\0VFATAL\0C${code}\0M${text}\0Fauth.c\0L543\0RClientAuthentication\0\0`;
  const length = Buffer.alloc(4);
  length.writeUInt32BE(fields.length + 4);
  return `E${length.toString('latin1')}${fields}`;
}

function dnsResponse(text: string): string {
  const question = '\x07version\x04bind\0\0\x10\0\x03';
  const record = `\xc0\x0c\0\x10\0\x03\0\0\0\0\0${String.fromCharCode(text.length + 1, text.length)}${text}`;
  const message = `\x50\x4f\x84\0\0\x01\0\x01\0\0\0\0${question}${record}`;
  return `\0${String.fromCharCode(message.length)}${message}`;
}

const http = (...headers: string[]) =>
  `HTTP/1.1 200 OK\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`;

type Expected = [service: string, product: string | null, version: string | null, cpe: string | null];
const cases: [string, Banner, Expected, revision?: string][] = [
  [
    'OpenSSH of Debian 12',
    bannerOf('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n'),
    ['ssh', 'OpenSSH', '9.2p1', 'cpe:2.3:a:openbsd:openssh:9.2:p1:*:*:*:*:*:*'],
    'Debian-2+deb12u3',
  ],
  [
    'Dropbear',
    bannerOf('SSH-2.0-dropbear_2022.83\r\n'),
    ['ssh', 'Dropbear', '2022.83', 'cpe:2.3:a:dropbear_ssh_project:dropbear_ssh:2022.83:*:*:*:*:*:*:*'],
  ],
  [
    'nginx',
    bannerOf(http('Server: nginx/1.22.1', 'Content-Length: 0'), { probe: 'http' }),
    ['http', 'nginx', '1.22.1', 'cpe:2.3:a:f5:nginx:1.22.1:*:*:*:*:*:*:*'],
  ],
  [
    'Apache of Debian',
    bannerOf(http('Server: Apache/2.4.62 (Debian)'), { probe: 'http' }),
    ['http', 'Apache httpd', '2.4.62', 'cpe:2.3:a:apache:http_server:2.4.62:*:*:*:*:*:*:*'],
    'Debian',
  ],
  [
    'lighttpd',
    bannerOf(http('Server: lighttpd/1.4.69')),
    ['http', 'lighttpd', '1.4.69', 'cpe:2.3:a:lighttpd:lighttpd:1.4.69:*:*:*:*:*:*:*'],
  ],
  [
    'vsftpd',
    bannerOf('220 (vsFTPd 3.0.3)\r\n'),
    ['ftp', 'vsftpd', '3.0.3', 'cpe:2.3:a:vsftpd_project:vsftpd:3.0.3:*:*:*:*:*:*:*'],
  ],
  [
    'ProFTPD without version',
    bannerOf('220 ProFTPD Server (Debian) [::ffff:192.0.2.1]\r\n'),
    ['ftp', 'ProFTPD', null, 'cpe:2.3:a:proftpd:proftpd:*:*:*:*:*:*:*:*'],
  ],
  [
    'Postfix of Debian',
    bannerOf('220 mail.example ESMTP Postfix (Debian/GNU)\r\n'),
    ['smtp', 'Postfix', null, 'cpe:2.3:a:postfix:postfix:*:*:*:*:*:*:*:*'],
  ],
  [
    'Exim',
    bannerOf('220 mx.example ESMTP Exim 4.96 Tue, 11 Jul 2023 10:00:00 +0000\r\n'),
    ['smtp', 'Exim', '4.96', 'cpe:2.3:a:exim:exim:4.96:*:*:*:*:*:*:*'],
  ],
  [
    'Dovecot IMAP',
    bannerOf('* OK [CAPABILITY IMAP4rev1 SASL-IR STARTTLS] Dovecot (Debian) ready.\r\n'),
    ['imap', 'Dovecot', null, 'cpe:2.3:a:dovecot:dovecot:*:*:*:*:*:*:*:*'],
  ],
  [
    'Dovecot POP3',
    bannerOf('+OK Dovecot (Debian) ready.\r\n'),
    ['pop3', 'Dovecot', null, 'cpe:2.3:a:dovecot:dovecot:*:*:*:*:*:*:*:*'],
  ],
  [
    'Redis',
    bannerOf('$200\r\n# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n', { probe: 'redis' }),
    ['redis', 'Redis', '7.0.15', 'cpe:2.3:a:redis:redis:7.0.15:*:*:*:*:*:*:*'],
  ],
  [
    'Valkey rather than Redis',
    bannerOf('$99\r\n# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\n'),
    ['redis', 'Valkey', '8.0.1', 'cpe:2.3:a:lfprojects:valkey:8.0.1:*:*:*:*:*:*:*'],
  ],
  [
    'memcached',
    bannerOf('VERSION 1.6.18\r\n', { probe: 'memcached' }),
    ['memcached', 'memcached', '1.6.18', 'cpe:2.3:a:memcached:memcached:1.6.18:*:*:*:*:*:*:*'],
  ],
  [
    'MariaDB with prefix and Debian revision',
    bannerOf(mysqlGreeting('5.5.5-10.11.6-MariaDB-0+deb12u1')),
    ['mysql', 'MariaDB', '10.11.6', 'cpe:2.3:a:mariadb:mariadb:10.11.6:*:*:*:*:*:*:*'],
    '0+deb12u1',
  ],
  [
    'MySQL',
    bannerOf(mysqlGreeting('8.4.0')),
    ['mysql', 'MySQL', '8.4.0', 'cpe:2.3:a:oracle:mysql:8.4.0:*:*:*:*:*:*:*'],
  ],
  [
    'PostgreSQL after a refused startup',
    bannerOf(`N${postgresError('28000', 'no pg_hba.conf entry for host "192.0.2.1"')}`, {
      probe: 'postgresql',
    }),
    ['postgresql', 'PostgreSQL', null, 'cpe:2.3:a:postgresql:postgresql:*:*:*:*:*:*:*:*'],
  ],
  [
    'BIND of Debian',
    bannerOf(dnsResponse('9.18.28-1~deb12u2-Debian'), { probe: 'dns-tcp' }),
    ['dns', 'BIND', '9.18.28', 'cpe:2.3:a:isc:bind:9.18.28:*:*:*:*:*:*:*'],
    '1~deb12u2-Debian',
  ],
  [
    'Unbound',
    bannerOf(dnsResponse('unbound 1.17.1'), { probe: 'dns-tcp' }),
    ['dns', 'Unbound', '1.17.1', 'cpe:2.3:a:nlnetlabs:unbound:1.17.1:*:*:*:*:*:*:*'],
  ],
  ['rsync', bannerOf('@RSYNCD: 31.0\n'), ['rsync', 'rsync', null, 'cpe:2.3:a:samba:rsync:*:*:*:*:*:*:*:*']],
  ['VNC without a product', bannerOf('RFB 003.008\n'), ['vnc', null, null, null]],
  [
    'Telnet without a product',
    bannerOf('\xff\xfd\x18\xff\xfd\x20\xff\xfd\x23'),
    ['telnet', null, null, null],
  ],
  ['HTTP without a product', bannerOf(http('Date: now')), ['http', null, null, null]],
  [
    'Squid',
    bannerOf('HTTP/1.1 400 Bad Request\r\nServer: squid/5.7\r\nX-Squid-Error: ERR_INVALID_URL 0\r\n\r\n'),
    ['http-proxy', 'Squid', '5.7', 'cpe:2.3:a:squid-cache:squid:5.7:*:*:*:*:*:*:*'],
  ],
  [
    'a dictionary server that greets like mail',
    bannerOf('220 host dictd 1.13.1/rf on Linux 6.1.0 <auth.mime> <1.2.3@host>\r\n250 ok\r\n'),
    ['dict', 'dictd', '1.13.1', 'cpe:2.3:a:dictd:dictd:1.13.1:*:*:*:*:*:*:*'],
  ],
];

test.each(cases)('%s', (_, banner, [match, product, version, cpe], revision) => {
  const fingerprint = name(banner);
  expect(fingerprint).toMatchObject({ match, product, version, cpe });
  expect(fingerprint?.revision).toBe(revision);
  expect(fingerprint?.confidence).toBeGreaterThanOrEqual(product === null ? 0.5 : 0.7);
  expect(fingerprint?.evidence).not.toBe('');
});

test('a silent port has no claims', () => {
  expect(claimsOf(bannerOf(''), builtinRules, ['banner', 'http', 'tls'])).toEqual([]);
});

test('an unknown greeting has no fingerprint', () => {
  expect(name(bannerOf('hello, who is there?\r\n'))).toBeNull();
});

const tls = { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', alpn: null, chain: [] };

test('the same service inside TLS has its own name', () => {
  expect(name(bannerOf(http('Server: nginx/1.22.1'), { tls }))?.match).toBe('https');
  expect(name(bannerOf('* OK Dovecot ready.\r\n', { tls }))?.match).toBe('imaps');
  expect(name(bannerOf('+OK Dovecot ready.\r\n', { tls }))?.match).toBe('pop3s');
  expect(name(bannerOf('220 mx ESMTP Postfix\r\n', { tls }))?.match).toBe('smtps');
});

test('TLS after STARTTLS leaves the service its plain name', () => {
  const session = exchange(
    ['', '220 mx ESMTP Postfix\r\n'],
    ['EHLO x\r\n', '250-mx\r\n250 STARTTLS\r\n'],
    ['STARTTLS\r\n', '220 go\r\n'],
  );
  expect(name(bannerOf('220 mx ESMTP Postfix\r\n', { tls, probe: 'smtp', ...session }))?.match).toBe('smtp');
});

test('TLS around silence is called tls', () => {
  expect(name(bannerOf('', { tls }))).toMatchObject({ match: 'tls', product: null, confidence: 0.5 });
});

test('what the system is comes with the product', () => {
  expect(name(bannerOf('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n'))?.os).toEqual({
    family: 'linux',
    distribution: 'debian',
    version: '12',
  });
});

test('independent sources of one product raise the confidence', () => {
  const header = name(bannerOf(http('Server: nginx/1.22.1')));
  const both = name(bannerOf(`${http('Server: nginx/1.22.1')}<hr><center>nginx/1.22.1</center>`));
  expect(both?.confidence).toBeGreaterThan(header?.confidence ?? 1);
  expect(both?.confidence).toBeLessThanOrEqual(0.99);
});

test('other products on one port are alternatives', () => {
  const fingerprint = name(bannerOf(http('Server: nginx/1.22.1', 'Via: 1.1 varnish (Varnish/7.1)')));
  expect(fingerprint?.product).toBe('nginx');
  expect(fingerprint?.alternatives.map(({ product }) => product)).toEqual(['Varnish']);
});

test('a web page that quotes other protocols is a web page', () => {
  const page = `${http('Server: nginx/1.22.1')}mosquitto version 2.0.11 (DESCRIPTION=(ERR=1)) ngircd-26.1`;
  expect(name(bannerOf(page))).toMatchObject({ match: 'http', product: 'nginx', alternatives: [] });
});

test('claims below the least confidence are left out', () => {
  const banner = bannerOf('RFB 003.008\n');
  const claims = claimsOf(banner, builtinRules, ['banner']);
  expect(resolveClaims(banner, claims, { minConfidence: 0.9, maxProtocols: 3 })).toBeNull();
});

test('a port is told again only when a later banner makes its record better', () => {
  const ports = new PortClaims(rules);
  const plain = bannerOf('HTTP/1.1 400 Bad Request\r\n\r\n');
  const named = bannerOf(http('Server: nginx/1.22.1'), { tls });
  const add = (banner: Banner) =>
    ports.add(endpoint, claimsOf(banner, builtinRules, ['banner', 'http', 'tls']));
  expect(add(plain)).toMatchObject({ match: 'http', product: null });
  expect(add(plain)).toBeNull();
  expect(add(named)).toMatchObject({ match: 'https', product: 'nginx' });
  expect(add(plain)).toBeNull();
});

test('modules and libraries of a server become claims of their own, after the server', () => {
  const server = 'Server: Apache/2.4.6 (CentOS) OpenSSL/1.0.2k-fips mod_wsgi/4.9.4 PHP/5.4.16';
  const record = name(bannerOf(http(server, 'X-Powered-By: PHP/5.4.16'), { probe: 'http' }));
  expect(record).toMatchObject({ product: 'Apache httpd', version: '2.4.6' });
  const others = record?.alternatives.map(({ product, version, cpe }) => [product, version, cpe]);
  expect(others).toEqual([
    ['PHP', '5.4.16', 'cpe:2.3:a:php:php:5.4.16:*:*:*:*:*:*:*'],
    ['OpenSSL', '1.0.2k', 'cpe:2.3:a:openssl:openssl:1.0.2k:*:*:*:*:*:*:*'],
    ['mod_wsgi', '4.9.4', 'cpe:2.3:a:modwsgi:mod_wsgi:4.9.4:*:*:*:*:*:*:*'],
  ]);
});

test('a part never stands before the server, however sure it is', () => {
  const response = http('Server: Uncommonserver/1.2 PHP/8.2.7');
  expect(name(bannerOf(response, { probe: 'http' }))).toMatchObject({
    product: 'Uncommonserver',
    version: '1.2',
    confidence: 0.6,
    rule: 'general.server-version',
  });
});

test('a name that no rule knows is taken as it is written; a known one is not told twice', () => {
  const unknown = name(bannerOf(http('Server: Linux/4.9 UPnP/1.0 Uncommon-daemon/0.3.1'), { probe: 'http' }));
  expect(unknown).toMatchObject({ product: 'Uncommon-daemon', version: '0.3.1', cpe: null, confidence: 0.6 });
  const known = name(bannerOf(http('Server: nginx/1.22.1'), { probe: 'http' }));
  expect(known?.alternatives).toEqual([]);
  expect(name(bannerOf(http('Server: web server'), { probe: 'http' }))?.product).toBeNull();
});

test('how a request without sense is refused tells servers apart, and only such a request', () => {
  const refusal = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n';
  expect(name(bannerOf(refusal, { probe: 'malformed-request' }))?.product).toBe('Node.js');
  expect(name(bannerOf(refusal, { probe: 'http' }))?.product).toBeNull();
});

test('style sheets and length do not hide what a page says of its maker', () => {
  const page = `<style>${'p {} '.repeat(2000)}</style><h1><a href="http://www.haproxy.org/">HAProxy version 2.6.12, released`;
  const stats = `${http('Content-Type: text/html')}<title>Statistics Report for HAProxy</title>${page}`;
  expect(name(bannerOf(stats, { probe: 'http' }))).toMatchObject({ product: 'HAProxy', version: '2.6.12' });
  const long = `${http()}${'<p>x</p>'.repeat(2000)}<address>Server: Apt-Cacher-NG/3.7.4&nbsp;`;
  expect(name(bannerOf(long, { probe: 'http' }))).toMatchObject({
    product: 'Apt-Cacher NG',
    version: '3.7.4',
  });
});

test('a greeting that no rule knows names its product at low confidence, and only where no rule does', () => {
  const unknown = name(bannerOf('Example Data Server version 3.2.1 ready\r\n', { probe: 'null' }));
  expect(unknown).toMatchObject({
    product: 'Example Data Server',
    version: '3.2.1',
    cpe: null,
    confidence: 0.5,
  });
  const known = name(bannerOf('Unison 2.51 with OCaml >= 4.01.2\n', { probe: 'null' }));
  expect(known).toMatchObject({ product: 'Unison', version: null, alternatives: [] });
  // A response may echo its request.
  expect(name(bannerOf('Example Data Server version 3.2.1 ready\r\n', { probe: 'generic' }))).toBeNull();
});

const get = 'GET / HTTP/1.1\r\nHost: 192.0.2.1:4242\r\nUser-Agent: Portolan/0.1\r\nAccept: */*\r\n\r\n';

test.each([
  ['as it is', get, get],
  ['in upper case', get, get.toUpperCase()],
  ['a request of SIP', sipOptions('TCP'), sipOptions('TCP')],
])('a service that repeats the request is echo: %s', (_form, sent, received) => {
  // Each request has a tag of its own.
  const response = sent.startsWith('OPTIONS') ? sent : received;
  const found = name(bannerOf(response, { probe: 'sip', ...exchange([sent, '']) }));
  expect(found).toMatchObject({ match: 'echo', product: null, version: null, alternatives: [] });
});

test('a text around the repeated request makes no product of it', () => {
  for (const text of [`you said: ${get}`, `${get}Server: you`, sipOptions('TCP').slice(0, 90)]) {
    const found = name(
      bannerOf(text, { probe: 'sip', ...exchange([text.includes('SIP') ? text : get, '']) }),
    );
    expect(found?.product ?? null).toBeNull();
  }
});

test.each([
  ['the server header', http('Server: Portolan/0.1')],
  ['the server header in Base64', http(`Server: ${Buffer.from('Portolan/0.1').toString('base64')}/1.0`)],
  ['the title', `${http()}<title>Portolan/0.1</title>`],
  ['a page', `${http()}<pre>GET / HTTP/1.1&#13;&#10;User-Agent: Portolan&#x2F;0.1</pre>`],
])('%s that reflects the request names no product', (_place, response) => {
  const found = name(bannerOf(response, { probe: 'http', ...exchange([get, '']) }));
  expect(found).toMatchObject({ match: 'http', product: null, alternatives: [] });
});

test('the path of a request in an error page is no evidence for the product that it is of', () => {
  const sent = get.replace('GET / ', 'GET /phpmyadmin/index.php ');
  const page =
    'HTTP/1.1 404 Not Found\r\n\r\n<title>404 Not Found</title>/phpmyadmin/index.php was not found';
  expect(JSON.stringify(name(bannerOf(page, { probe: 'http', ...exchange([sent, '']) })))).not.toMatch(
    /phpmyadmin/i,
  );
});

test.each([
  ['redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1', 'Valkey', '8.0.1'],
  ['redis_version:6.3.4\r\nredis_mode:standalone\r\n# KeyDB\r\nmvcc_depth:0', 'KeyDB', '6.3.4'],
  ['redis_version:7.4.0\r\ndragonfly_version:df-v1.27.1', 'Dragonfly', '1.27.1'],
])('a fork that names its original is only the fork: %s', (info, product, version) => {
  const text = `# Server\r\n${info}\r\n`;
  expect(name(bannerOf(`$${text.length}\r\n${text}\r\n`, { probe: 'redis' }))).toMatchObject({
    product,
    version,
    alternatives: [],
  });
});

test.each([
  ['5.5.50-cll', 'MySQL', '5.5.50', 'cll'],
  ['5.7.44-cll-lve', 'MySQL', '5.7.44', 'cll-lve'],
  ['5.5.5-10.6.16-MariaDB-cll-lve', 'MariaDB', '10.6.16', 'cll-lve'],
  ['5.7.44-48-log', 'Percona Server', '5.7.44-48', undefined],
  ['5.7.25-TiDB-v6.5.0', 'TiDB', '6.5.0', undefined],
])(
  'a suffix that no rule lists costs neither product nor version: %s',
  (text, product, version, revision) => {
    const found = name(bannerOf(mysqlGreeting(text)));
    expect(found).toMatchObject({ product, version, alternatives: [] });
    expect(found?.revision).toBe(revision);
  },
);

test('a server that has blocked the scanner is still MySQL', () => {
  const text =
    "\xff\x69\x04Host '192.0.2.9' is blocked because of many connection errors; unblock with 'mysqladmin flush-hosts'";
  expect(name(bannerOf(`${String.fromCharCode(text.length)}\0\0\0${text}`))).toMatchObject({
    match: 'mysql',
    product: 'MySQL',
    version: null,
  });
});

test.each([
  ['Version 1.1.214.4 Wed Aug 23 03:38:25 GMT 2000', 'HP-UX ftpd', 'hp-ux'],
  ['Version 1.1.214.8 Thu Mar  6 10:52:33 GMT 2008', 'HP-UX ftpd', 'hp-ux'],
  ['Version 1.7.212.1 Sat Feb  1 01:30:15 GMT 2003', 'HP-UX ftpd', 'hp-ux'],
  ['Version 4.2 Mon Feb 19 14:29:53 CST 2018', 'AIX ftpd', 'aix'],
])('the version of an FTP server tells HP-UX from AIX: %s', (version, product, family) => {
  const found = name(bannerOf(`220 host.example.com FTP server (${version}) ready.\r\n`));
  expect(found).toMatchObject({ product, os: { family }, alternatives: [] });
});

test('an FTP server with the version of neither is neither', () => {
  const found = name(bannerOf('220 host FTP server (Version 5.60 Tue Apr 3 20:11:02 PDT 1990) ready.\r\n'));
  expect(found).toMatchObject({ match: 'ftp', product: null });
  expect(found?.os).toBeUndefined();
});

test.each([
  '554 mx.example ESMTP Error 5.5.0 try later\r\n',
  '554 mx.example ESMTP Postfix 5.5.0 Rejected\r\n',
  '554 5.5.0 mx.example ESMTP Mailer 5.5.0\r\n',
  '451 Temporary Failure 4.3.0 come back\r\n',
])('a status code of SMTP is no version: %s', (text) => {
  const found = name(bannerOf(text));
  expect(
    [found?.version, ...(found?.alternatives ?? []).map(({ version }) => version)].filter(Boolean),
  ).toEqual([]);
});
