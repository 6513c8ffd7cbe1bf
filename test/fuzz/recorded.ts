import { deflateSync, gzipSync } from 'node:zlib';
import { certificateDer } from '../../src/knowledge/protocols/test-certificate.ts';
import { builtinRules } from '../../src/knowledge/rules/rule-catalog.ts';
import {
  bson,
  mongodbResponse,
  rpcResponse,
  smb1Response,
  smb2Response,
  snmpResponse,
  x11Admission,
} from '../fixed-responses.ts';

/** Answers of real services, byte for byte or built by the rules of their protocol: what fuzzing begins with. */

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const u16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const u24 = (value: number) => Buffer.concat([Buffer.from([value >> 16]), u16(value & 0xffff)]);

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const counted = (body: Buffer) => Buffer.concat([u32(body.length), body]);

/** A value with its tag in the basic encoding rules, below 128 bytes. */
const element = (tag: number, ...parts: Buffer[]) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, body.length]), body]);
};

/** A self-signed certificate of OpenSSL with the usual extensions. */
const opensslCertificate = Buffer.from(
  'MIIC7DCCAlWgAwIBAgIUCUoEQs2Frk179j6Hb6OJZQnN278wDQYJKoZIhvcNAQELBQAwOzELMAkGA1UEBhMCREUxFTATBgNV' +
    'BAoMDEV4YW1wbGUgR21iSDEVMBMGA1UEAwwMZ2F0ZS5leGFtcGxlMB4XDTI2MTEyMjAxNTkwMVoXDTM2MTExOTAxNTkwMVow' +
    'OzELMAkGA1UEBhMCREUxFTATBgNVBAoMDEV4YW1wbGUgR21iSDEVMBMGA1UEAwwMZ2F0ZS5leGFtcGxlMIGfMA0GCSqGSIb3' +
    'DQEBAQUAA4GNADCBiQKBgQDaLG3I2ycCvGbtJ0BC2bUc9DWxq5i5uSJdOjDJt+ucALO4FYz4G1YozJUt4lqLxACFXQgNPmFv' +
    'x2ju33XntkzmOyOjJNe65x9v5pfzDr0ucGQzy5mPI7BH1oRxhKcbs0eHTRmUyKGqjvoSbC7JMU37fYBo9rhKAldawdcDiJCY' +
    'lQIDAQABo4HsMIHpMB0GA1UdDgQWBBTg6NBwl0IY/WdAUqJDxRWXvKvnrTAfBgNVHSMEGDAWgBTg6NBwl0IY/WdAUqJDxRWX' +
    'vKvnrTAPBgNVHRMBAf8EBTADAQH/MC0GA1UdEQQmMCSCDGdhdGUuZXhhbXBsZYIOKi5nYXRlLmV4YW1wbGWHBMAAAgEwDgYD' +
    'VR0PAQH/BAQDAgeAMBMGA1UdJQQMMAoGCCsGAQUFBwMBMBAGA1UdIAQJMAcwBQYDKgMEMDAGCCsGAQUFBwEBBCQwIjAgBggr' +
    'BgEFBQcwAYYUaHR0cDovL29jc3AuZXhhbXBsZS8wDQYJKoZIhvcNAQELBQADgYEAYubmmH174FjqEL7mIA3I0LYwrdQA7u1M' +
    '/T1qNBW8yUifuYLCg584ZH0UcyL95o/+vjubVEg2Xq1XCjRBXWFHM3+HSJeIGb/rv6lB7vtTdw8hysWrk0+loxL5+uj/9y69' +
    'XxRVfAR+MrTUXUpWMTS/XuwGha3sBcA5PnvnYlRyHYk=',
  'base64',
);

/** With two timestamps of logs, and the wish for a stapled status. */
const loggedCertificate = Buffer.from(
  'MIIB0jCCAXegAwIBAgIUfWG+JpE8Ap3JV8l1sPXmEEIr23swCgYIKoZIzj0EAwIwFzEVMBMGA1UEAwwMZ2F0ZS5leGFtcGxlMB4XDTI2MT' +
    'EyMjA1NDkxNVoXDTM2MTExOTA1NDkxNVowFzEVMBMGA1UEAwwMZ2F0ZS5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEkRxq' +
    'VjQa/JHEQqLkiEGD39sVmUqbg2Qauh72iwKHhNSMi1Ei01+Xv0EItopdlXraN9RonV7D0hRkhrgMoOubNaOBoDCBnTAdBgNVHQ4EFgQUIT' +
    'JjBI9o1KqbPicWZLYeeobu7L8wHwYDVR0jBBgwFoAUITJjBI9o1KqbPicWZLYeeobu7L8wDwYDVR0TAQH/BAUwAwEB/zAXBgNVHREEEDAO' +
    'ggxnYXRlLmV4YW1wbGUwHgYKKwYBBAHWeQIEAgQQBA4ADAAEqrvM3QAEqrvM3TARBggrBgEFBQcBGAQFMAMCAQUwCgYIKoZIzj0EAwIDSQ' +
    'AwRgIhALz3IEL70jMxaY1hWneFjErxoCSucXK0LFyXsSYaEFYZAiEAz7fMhS+Atve+aCvSc55+q6vxQh9YyQSfEmp1rCt6Vdw=',
  'base64',
);

export const certificates: readonly Buffer[] = [
  opensslCertificate,
  loggedCertificate,
  certificateDer({ commonName: 'a.example', sans: ['a.example', '*.b.example'] }),
  certificateDer({ commonName: 'router', serial: [0xff, 1], notAfter: '99991231235959Z' }),
];

const page =
  '<!doctype html><html><head><TITLE>Caf\xc3\xa9 &amp; &#8364;</title>' +
  '<meta name="generator" content="WordPress 6.4.2"><link rel="icon" href="/favicon.ico">' +
  '</head><body><a href="/wp-content/a.css">x</a></body></html>';

export const httpResponses: readonly Buffer[] = [
  latin1(
    'HTTP/1.1 200 OK\r\nDate: Sat, 21 Nov 2026 10:00:00 GMT\r\nServer: nginx/1.22.1\r\nSet-Cookie: PHPSESSID=1; path=/\r\n' +
      `X-Powered-By: PHP/8.2.7-1+deb12u1\r\nStrict-Transport-Security: max-age=31536000\r\n\r\n${page}`,
  ),
  latin1(
    'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm="Router \\"5\\"", Digest realm="x", nonce="abc", qop="auth"\r\n' +
      'Content-Length: 2\r\n\r\nno',
  ),
  latin1(
    'HTTP/1.0 301 Moved Permanently\r\nLocation: https://a.example/\r\nX-AspNet-Version: 4.0.30319\r\nContent-Length: 3\r\n\r\nabc',
  ),
  latin1(
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;ext=1\r\nhello\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n',
  ),
  Buffer.concat([
    latin1('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n'),
    gzipSync(Buffer.from(page.repeat(20), 'latin1')),
  ]),
  Buffer.concat([latin1('HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n'), deflateSync(latin1(page))]),
  latin1('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nServer: Apache\r\n folded\r\n\r\n'),
  latin1(
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"name":"x","version":{"number":"8.11.1"},"tagline":"You Know, for Search"}',
  ),
  latin1(
    'HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nST: upnp:rootdevice\r\nSERVER: Linux/3.10 UPnP/1.0 x/1.6\r\n\r\n',
  ),
];

function keyExchangeInit(): Buffer {
  const lists = [
    'curve25519-sha256,diffie-hellman-group14-sha1,kex-strict-s-v00@openssh.com',
    'ssh-ed25519,rsa-sha2-512,ssh-rsa',
    'aes256-ctr,aes128-cbc',
    'aes256-ctr,aes128-cbc',
    'hmac-sha2-256,hmac-md5',
    'hmac-sha2-256,hmac-md5',
    'none,zlib@openssh.com',
    'none',
    '',
    '',
  ];
  const payload = Buffer.concat([
    Buffer.from([20]),
    Buffer.alloc(16, 7),
    ...lists.map((list) => counted(latin1(list))),
    Buffer.alloc(5),
  ]);
  return sshPacket(payload, 8 - ((payload.length + 5) % 8) + 8);
}

const sshPacket = (payload: Buffer, padding: number) =>
  Buffer.concat([u32(payload.length + 1 + padding), Buffer.from([padding]), payload, Buffer.alloc(padding)]);

const sshKey = Buffer.concat([counted(latin1('ssh-ed25519')), counted(Buffer.alloc(32, 7))]);

/** The answer to a key exchange: host key, the server's share and a signature. */
export const keyExchangeReply: Buffer = Buffer.concat([
  Buffer.from([31]),
  counted(sshKey),
  counted(Buffer.alloc(32, 9)),
  counted(Buffer.concat([counted(latin1('ssh-ed25519')), counted(Buffer.alloc(64, 3))])),
]);

/** The prime that a server gives when it is asked for a short one. */
export const groupReply: Buffer = Buffer.concat([
  Buffer.from([31]),
  counted(Buffer.concat([Buffer.from([0]), Buffer.alloc(128, 0xff)])),
  counted(Buffer.from([2])),
]);

export const sshResponses: readonly Buffer[] = [
  Buffer.concat([latin1('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u7\r\n'), keyExchangeInit()]),
  Buffer.concat([latin1('SSH-2.0-OpenSSH_9.9\r\n'), keyExchangeInit(), sshPacket(keyExchangeReply, 8)]),
  latin1('Welcome\r\nto the host\r\nSSH-1.99-dropbear_2022.83\n'),
  latin1('SSH-2.0-Cisco-1.25\nProtocol mismatch.\n'),
];

export const smtpResponses: readonly Buffer[] = [
  latin1(
    '220 mail.example ESMTP Postfix (Debian/GNU)\r\n250-mail.example\r\n250-SIZE 10240000\r\n250-STARTTLS\r\n' +
      '250-AUTH PLAIN LOGIN\r\n250 8BITMIME\r\n220 2.0.0 Ready to start TLS\r\n',
  ),
  latin1('220-mx.example ESMTP Exim 4.96\r\n220-no spam\r\n220 go\r\n502 5.5.2 Error\r\n'),
  latin1('554 5.7.1 No SMTP service here\r\n'),
];

export const ftpResponses: readonly Buffer[] = [
  latin1('220 (vsFTPd 3.0.3)\r\n211-Features:\r\n AUTH TLS\r\n UTF8\r\n211 End\r\n215 UNIX Type: L8\r\n'),
  latin1('220-Welcome to Pure-FTPd\r\n220 ok\r\n530 You are not logged in\r\n'),
  latin1(
    '220 ProFTPD Server (Debian) [::ffff:192.0.2.1]\r\n331 Anonymous login ok\r\n230 Anonymous access granted\r\n',
  ),
];

export const mailboxResponses: readonly Buffer[] = [
  latin1(
    '* OK [CAPABILITY IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE IDLE LITERAL+ STARTTLS AUTH=PLAIN] Dovecot (Debian) ready.\r\n',
  ),
  latin1('* BYE too many connections\r\n'),
  latin1('+OK Dovecot ready. <1.2.3@mail.example>\r\n+OK\r\nCAPA\r\nTOP\r\nUIDL\r\nSTLS\r\n.\r\n'),
  latin1('-ERR [SYS/TEMP] try later\r\n'),
];

export const keyValueResponses: readonly Buffer[] = [
  latin1(
    '$110\r\n# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nos:Linux 6.1.0-18-amd64 x86_64\r\ntcp_port:6379\r\n\r\n',
  ),
  latin1('-NOAUTH Authentication required.\r\n'),
  latin1("-ERR unknown command 'HELP', with args beginning with: \r\n"),
  latin1('+PONG\r\n'),
  latin1('VERSION 1.6.18\r\n'),
  latin1('STAT pid 1\r\nSTAT version 1.6.18\r\nEND\r\n'),
];

export const databaseResponses: readonly Buffer[] = [
  hex(
    '5d000000 0a 352e352e352d31302e31312e362d4d617269614442 00 1e000000 5b3e2d4e5f212122 00 fef7 08 0200 ff8115' +
      '000000000000 1d000000 3a7c3a2b4e6b4f5f6a2d3f40 00 6d7973716c5f6e61746976655f70617373776f726400',
  ),
  Buffer.concat([
    hex('46000000 ff 6a04'),
    latin1("Host '192.0.2.1' is not allowed to connect to this MariaDB server"),
  ]),
  Buffer.concat([
    Buffer.from('E'),
    u32(0x60),
    latin1(
      'SFATAL\0VFATAL\0C28000\0Mno PostgreSQL user name specified in startup packet\0Fpostmaster.c\0L2233\0\0',
    ),
  ]),
  latin1('EFATAL:  unsupported frontend protocol 65363.19778: server supports 1.0 to 3.0\n\0'),
  hex('52 00000017 0000000a 534352414d2d5348412d323536 0000'),
  Buffer.from('S'),
  Buffer.from('N'),
];

const dnsQuestion = hex('504f 8580 0001 0001 0000 0000 07 76657273696f6e 04 62696e64 00 0010 0003');

export const dnsResponses: readonly Buffer[] = [
  Buffer.concat([dnsQuestion, hex('c00c 0010 0003 00000000 0010 0f'), latin1('9.18.24-1-Debian')]),
  hex('504f 8183 0001 0000 0000 0000 00 0002 0001'),
  hex(
    '504f 8180 0001 0002 0000 0000 00 0002 0001 00 0002 0001 00000e10 0014 01 61 0c 726f6f742d73657276657273 03 6e6574 00' +
      '00 0002 0001 00000e10 0004 01 62 c01e',
  ),
];

export const framedDnsResponses: readonly Buffer[] = dnsResponses.map((answer) =>
  Buffer.concat([u16(answer.length), answer]),
);

export const snmpResponses: readonly Buffer[] = [
  snmpResponse({ text: 'Linux gate 6.1.0-18-amd64 #1 SMP Debian 6.1.76-1 x86_64' }),
  snmpResponse({ version: 0, text: 'Cisco IOS Software, C2960 Software, Version 15.0(2)SE4' }),
  snmpResponse({ error: 2 }),
];

export const ntpResponses: readonly Buffer[] = [
  Buffer.concat([hex('1c 02 06 e9 00000200 00000300 c0000201'), Buffer.alloc(32, 0xe8)]),
  Buffer.concat([hex('d7 00 03 2a 0006 0048'), Buffer.alloc(6 * 72, 1)]),
  hex('97 00 03 2a 40 00 00 00'),
];

export const mongodbResponses: readonly Buffer[] = [
  Buffer.concat([
    mongodbResponse({ version: '7.0.14', ok: 1 }),
    mongodbResponse({ databases: { 0: { name: 'admin' }, 1: { name: 'shop' } }, ok: 1 }),
  ]),
  mongodbResponse({
    ok: 0,
    errmsg: 'command listDatabases requires authentication',
    code: 13,
    codeName: 'Unauthorized',
  }),
  Buffer.concat([
    hex('00000000 00000000 00000000 dd070000 00000000 00'),
    bson({ a: { b: { c: { d: 'e' } } } }),
  ]),
];

export const rfbResponses: readonly Buffer[] = [
  latin1('RFB 003.008\n\x02\x01\x02'),
  latin1('RFB 003.003\n\0\0\0\x02'),
  latin1('RFB 003.008\n\0\0\0\0\x17Too many security failures'),
];

export const rdpResponses: readonly Buffer[] = [
  hex('03000013 0ed000001234 00 02 1f 0800 02000000'),
  hex('03000013 0ed000001234 00 03 00 0800 05000000'),
  hex('0300000b 06d000001234 00'),
];

const x11Refusal = Buffer.concat([hex('00 16 0b00 0000 0600'), latin1('No protocol specified\n\0\0')]);
export const x11Responses: readonly Buffer[] = [x11Admission('The X.Org Foundation'), x11Refusal];

export const rpcResponses: readonly Buffer[] = [
  rpcResponse(1, 100_003, 3, 6, 2049, 1, 100_005, 3, 17, 20_048, 0),
  rpcResponse(),
];

export const rsyncResponses: readonly Buffer[] = [
  latin1('@RSYNCD: 31.0 sha512 md5\nWelcome to us\nweb            \tpublic pages\nbackup\t\n@RSYNCD: EXIT\n'),
  latin1('@RSYNCD: 31.0\n@ERROR: access denied to  from unknown (192.0.2.1)\n'),
];

export const smbResponses: readonly Buffer[] = [
  smb2Response({ signing: 1, dialect: 0x0302 }),
  smb2Response({ signing: 3, dialect: 0x0210 }),
  smb1Response(0),
  smb1Response(0xffff),
  smbSession(),
  Buffer.concat([hex('82000000'), smbSession()]),
];

/** Negotiation and the challenge of a Windows server in one stream. */
function smbSession(): Buffer {
  const negotiated = Buffer.alloc(130);
  negotiated.write('\xfeSMB', 'latin1');
  negotiated.writeUInt16LE(65, 64);
  negotiated.writeUInt16LE(0x0302, 68);
  const names = Buffer.concat([
    hex('0200 0c00'),
    Buffer.from('DOMAIN', 'utf16le'),
    hex('0100 0800'),
    Buffer.from('HOST', 'utf16le'),
    hex('0000 0000'),
  ]);
  const challenge = Buffer.alloc(56);
  challenge.write('NTLMSSP\0\x02', 'latin1');
  challenge.writeUInt16LE(names.length, 40);
  challenge.writeUInt32LE(56, 44);
  hex('0a00 7c4f 0000000f').copy(challenge, 48);
  const header = Buffer.alloc(64);
  header.write('\xfeSMB', 'latin1');
  return Buffer.concat([counted(negotiated), counted(Buffer.concat([header, challenge, names]))]);
}

const attribute = (name: string, value: string) =>
  element(0x30, element(4, latin1(name)), element(0x31, element(4, latin1(value))));

/** By the name of the probe that asked. */
/** Answers of monitoring agents, clusters and Java services. */
export const clusterResponses: readonly (readonly [probe: string, answer: Buffer])[] = [
  [
    'rabbitmq-stream',
    Buffer.from(
      '\0\0\0\x2d\x80\x11\0\x01\0\0\0\x01\0\x01\0\0\0\x02\0\x07product\0\x08RabbitMQ\0\x07version\0\x063.10.8',
      'latin1',
    ),
  ],
  ['nrpe', Buffer.concat([hex('00020002 00000000 0000'), latin1('NRPE v4.1.0\0'), Buffer.alloc(1014)])],
  [
    'drda',
    hex(
      '004d d00300010047 1443 0011115e8485999982a884998481899500' +
        '0e1147c1978183888540c48599 82a80020115ac3e2e2f1f0f1f4f061f1f04bf1f44bf24bf0406040 4df1f25d',
    ),
  ],
  [
    'jdwp',
    Buffer.concat([
      latin1('JDWP-Handshake'),
      hex('0000001f 504f5254 80 0000'),
      hex('00000000 00000011 00000000 00000002 3137 00000002 4f4b'),
    ]),
  ],
  [
    'erlang-node',
    Buffer.concat([
      hex('0003'),
      latin1('sok'),
      hex('0024'),
      latin1('N'),
      hex('0000000d07df7fbd 01020304 6381f2a0 0011'),
      latin1('rabbit@localhost1'),
    ]),
  ],
  [
    'memcached-binary',
    Buffer.concat([hex('810b0000 00000000 00000006 00000000 0000000000000000'), latin1('1.6.18')]),
  ],
  ['libvirt', hex('00000024 20008086 00000001 00000042 00000001 00000000 00000000 00000001 00000000')],
  [
    'zabbix-trapper',
    Buffer.concat([
      latin1('ZBXD\x01'),
      hex('2d00000000000000'),
      latin1('{"response":"failed","info":"Permission denied"}'),
    ]),
  ],
  ['fastcgi', Buffer.concat([hex('010a0000 0012 0600 0f01'), latin1('FCGI_MPXS_CONNS0'), Buffer.alloc(6)])],
  ['uwsgi', hex('64000001')],
  ['iscsi', Buffer.concat([hex('23000000 0000000f'), Buffer.alloc(40), latin1('AuthMethod=None\0')])],
  ['iperf3', hex('09')],
  ['ovsdb', latin1('{"id":"portolan","result":["Open_vSwitch","_Server"],"error":null}')],
  ['corosync-qnetd', hex('0001 00000005 0002000100')],
  [
    'gqtp',
    Buffer.concat([
      hex('c7000000 00000000 00000014 00000000 0000000000000000'),
      latin1('{"version":"13.0.0"}'),
    ]),
  ],
  ['null', Buffer.concat([Buffer.alloc(128, 0xd6), hex('6b024f67')])],
];

export const networkResponses: readonly (readonly [probe: string, answer: Buffer])[] = [
  [
    'mssql',
    hex(
      '04 01 002b 0000 0100 00 001a 0006 01 0020 0001 02 0021 0001 03 0022 0000 04 0022 0001 ff 0f0007d00000 01 00 00',
    ),
  ],
  [
    'oracle-tns',
    Buffer.concat([
      hex('005b 0000 04 00 0000 22 00 004f'),
      latin1('(DESCRIPTION=(TMP=)(VSNNUM=186647040)(ERR=1189)(ERROR_STACK=(ERROR=(CODE=1189))))'),
    ]),
  ],
  [
    'ldap',
    Buffer.concat([
      element(
        0x30,
        element(2, Buffer.from([1])),
        element(
          0x64,
          element(4),
          element(0x30, attribute('objectClass', 'top'), attribute('vendorVersion', '2.6')),
        ),
      ),
      element(0x30, element(2, Buffer.from([1])), element(0x65, hex('0a0100 0400 0400'))),
    ]),
  ],
  [
    'cassandra',
    Buffer.concat([hex('84 00 0000 06 00000016'), latin1('\0\x01\0\x0bCQL_VERSION\0\x01\0\x053.4.5')]),
  ],
  ['kafka', hex('0000000e 0000504f 0000 00000001 0012 0000 0003')],
  [
    'kerberos',
    counted(
      element(
        0x7e,
        element(0x30, element(0xa5, hex('020101')), element(0xa9, element(0x1b, latin1('EXAMPLE.ORG')))),
      ),
    ),
  ],
  ['msrpc', Buffer.concat([hex('05000c03100000003c000000'), Buffer.alloc(48)])],
  ['firebird', hex('00000003 0000800d 00000001 00000005')],
  ['gearman', latin1('OK 1.1.20+ds\n')],
  ['smb-session', smbSession()],
];

/** Answers of other protocols that are named by their first bytes, or read by their length. */
export const mediaResponses: readonly (readonly [probe: string, answer: Buffer])[] = [
  [
    'snapcast',
    latin1(
      '{"id":"portolan","result":{"server":{"snapserver":{"name":"Snapserver","version":"0.26.0"}}}}\r\n',
    ),
  ],
  ['snapcast-stream', hex('0400 504f 504f 4ec00000cbdb0000 4ec00000c2db0000 08000000 4ec00000c2db0000')],
  ['rtmp', Buffer.concat([hex('03 00000000 00000000'), Buffer.alloc(1528)])],
  [
    'freeciv',
    Buffer.concat([hex('4055'), deflateSync(latin1('\0\0Server version: 3.0.6 Client version: 0.0.0.\0'))]),
  ],
  [
    'wesnoth',
    Buffer.concat([
      hex('0000002a 00000021'),
      gzipSync(latin1('[reject]\naccepted_versions="1.16.*,1.16.9"\n[/reject]\n')),
    ]),
  ],
  ['quassel', hex('02000002')],
  ['deluge', Buffer.concat([hex('01 00000011'), deflateSync(latin1('\xc3\x01\x01\x852.0.3'))])],
  ['owserver', hex('00000000 00000005 00000005 00000000 00000005 00000000 332e327034')],
  ['hamlib', latin1('RPRT -11\n')],
  ['eibd', hex('00020000')],
  ['gdb-remote', latin1('+$PacketSize=47ff;QPassSignals+;QProgramSignals+;QStartupWithShell+#a1')],
  ['usbip', hex('0111 0005 00000000 00000002')],
  ['sane', hex('00000000 01010003')],
  ['moosefs', hex('0000000b 00000011 0000504f 000300ea 332e302e3131372d31')],
  ['rpki-rtr', hex('00 0a 0000 00000018 00000000 00000008 4e6f2064617461 00')],
];

export const gameResponses: readonly Buffer[] = [
  latin1(
    '\xff\xff\xff\xffstatusResponse\n\\version\\ioq3 1.36_GIT linux-x86_64\\gamename\\baseoa\n0 0 "x"\n',
  ),
  latin1('\xff\xff\xff\xffI\x11A server\0cp_badlands\0tf\0Team Fortress\0\xb8\x01'),
  Buffer.concat([
    hex('1c'),
    Buffer.alloc(16),
    hex('00ffff00fefefefefdfdfdfd12345678 000d'),
    latin1('MCPE;A;594;1.20'),
  ]),
  latin1(`${'\xff'.repeat(10)}inf35\x000.6.4, 16.4\0My server\0`),
  hex('4f457403000100 03ffdc0001 0002'),
];

export const smallResponses: readonly Buffer[] = [
  // Mumble: version, release and system.
  Buffer.concat([hex('0000 0000000d 08 848604 12 07'), latin1('1.3.4-4'), hex('1a 03'), latin1('X11')]),
  hex('00010304 504f5254414c4f4e 00000001 00000064 00011170'),
  // AFP: header, offsets of machine, versions, methods and icon, flags, name.
  Buffer.concat([
    hex('0103 0001 00000000 00000023 00000000 0010 001f 0000 0000 8000 05'),
    latin1('files'),
    hex('0e'),
    latin1('Netatalk3.1.12'),
    hex('01 06'),
    latin1('AFP3.4'),
  ]),
  hex('eeaccdf2'),
  latin1('000eversion 2\n0015agent=git/2.39.5\n0000'),
  latin1(':irc.example 001 x :Welcome\r\n:irc.example 004 x irc.example InspIRCd-3 iosw\r\n'),
  latin1('200 news.example ready\r\n101 Capability list:\r\nIMPLEMENTATION INN 2.7.1\r\n.\r\n'),
];

export const otherResponses: readonly Buffer[] = [
  hex('20020000'),
  Buffer.concat([hex('30 1e 0014'), latin1('$SYS/broker/version'), latin1('mosquitto 2.0.11')]),
  Buffer.concat([
    hex('01 0000 0000003c 000a000a 00 09 0000002a 07'),
    latin1('product'),
    hex('53 00000008'),
    latin1('RabbitMQ'),
    hex('07'),
    latin1('version'),
    hex('53 00000006'),
    latin1('3.10.8'),
    hex('ce'),
  ]),
  latin1(
    'SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP 192.0.2.1;branch=z\r\nServer: Asterisk PBX 18.2.1\r\nContent-Length: 0\r\n\r\n',
  ),
  latin1('RTSP/1.0 200 OK\r\nCSeq: 1\r\nServer: Hipcam RealServer/V1.0\r\nPublic: OPTIONS, DESCRIBE\r\n\r\n'),
  latin1(
    "<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' id='1'>" +
      "<stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>",
  ),
  latin1(
    ':irc.example NOTICE * :*** Looking up your hostname\r\n:irc.example 451 * :You have not registered\r\n',
  ),
  latin1('Zookeeper version: 3.8.0-0, built on 2022-02-25\r\nClients:\r\n'),
  latin1('\xff\xfd\x18\xff\xfd\x20\xff\xfb\x01\r\nDebian GNU/Linux 12\r\nhost login: '),
  latin1('200 news.example Leafnode NNTP daemon, version 1.11.12 ready (posting ok)\r\n'),
  latin1('OK MPD 0.23.5\n'),
  latin1('# munin node at host.example\n'),
  hex('15 0303 0002 02 28'),
  hex('8200000083000001 8f'),
];

/** Answers over UDP by which devices and services make themselves known. */
export const announcements: readonly Buffer[] = [
  latin1(
    'HTTP/1.1 200 OK\r\nCACHE-CONTROL: max-age=1800\r\nLOCATION: http://192.0.2.1:49000/igddesc.xml\r\n' +
      'SERVER: FRITZ!Box UPnP/1.0 AVM FRITZ!Box 113.07.29\r\nST: upnp:rootdevice\r\nUSN: uuid:1::upnp:rootdevice\r\n\r\n',
  ),
  latin1(
    '<?xml version="1.0"?><s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body><d:ProbeMatches><d:ProbeMatch>' +
      '<a:EndpointReference><a:Address>urn:uuid:1</a:Address></a:EndpointReference><d:Types>dn:NetworkVideoTransmitter</d:Types>' +
      '<d:Scopes>onvif://www.onvif.org/name/Camera</d:Scopes><d:XAddrs>http://192.0.2.1/onvif</d:XAddrs>' +
      '</d:ProbeMatch></d:ProbeMatches></s:Body></s:Envelope>',
  ),
  Buffer.concat([
    hex('0101 0020 2112a442 504f5254504f5254504f5254 0020 0008 0001 a147 e112a643 8022 0010'),
    latin1('Coturn-4.5.2 x\0\0'),
  ]),
  Buffer.concat([hex('6145 504f ff'), latin1('</.well-known/core>;ct=40,</info>;rt="x"')]),
  Buffer.concat([hex('0001 0005 0014 0000 0004'), latin1('host'), hex('000a'), latin1('Linux 6.1 ')]),
  Buffer.concat([
    hex('05 4a00'),
    latin1('ServerName;DB;InstanceName;SQLEXPRESS;IsClustered;No;Version;15.0.2000.5;;'),
  ]),
  hex('80 00000000 04 01020304 04 05060708 00000001 6b3343cf'),
  hex('16 feff 0000 0000000000000000 0023 03 000017 0000 0000 00000017 feff 14' + '11'.repeat(20)),
  Buffer.concat([
    hex('504f 8400 0000 0001 0000 0000 20'),
    latin1('CKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'),
    hex('00 0021 0001 00000000 0053 02'),
    latin1('GATE           '),
    hex('00 0400'),
    latin1('WORKGROUP      '),
    hex('00 8400 000c29123456' + '00'.repeat(40)),
  ]),
  Buffer.concat([
    hex(
      '0000 8400 0000 0002 0000 0001 05 5f68747470 04 5f746370 05 6c6f63616c 00 000c 0001 00000078 0007 04',
    ),
    latin1('gate'),
    hex('c00c c02d 0010 8001 00001194 000a 09'),
    latin1('model=abc'),
    hex('04'),
    latin1('gate'),
    hex('c017 0001 8001 00000078 0004 c0000201'),
  ]),
  Buffer.concat([
    hex(
      '504f525400000001 1122334455667788 01 10 02 00 00000000 0000006c 0d00 0038 00000001 00000001 0000002c 00010001',
    ),
    hex(
      '00000024 01010000 80010005 80020002 80030001 80040002 800b0001 000c000400007080 0d00 0014 afcad71368a1f1c96b8696fc77570100',
    ),
  ]),
  hex(
    'c802 0032 0001 0000 0000 0001 8008 0000 0000 0002 800a 0000 0007 67617465 8008 0000 0006 0690 800a 0000 0008 41434d45',
  ),
  Buffer.concat([
    hex('009c 0001 1a2b3c4d 0002 0000 0100 01 00 00000000 00000000 0000 0001'),
    latin1('gate').subarray(0, 4),
    Buffer.alloc(60),
    latin1('linux'),
    Buffer.alloc(59),
  ]),
  hex('40 1122334455667788 01 00000000 504f5254504f5254 00000000'),
];

const message = (type: number, body: Buffer) => Buffer.concat([Buffer.from([type]), u24(body.length), body]);
const record = (type: number, content: Buffer) =>
  Buffer.concat([Buffer.from([type, 3, 3]), u16(content.length), content]);

function serverHello(suite: number, extensions: string, randomBytes = Buffer.alloc(32, 7)): Buffer {
  const block = hex(extensions);
  const parts = [hex('0303'), randomBytes, hex('00'), u16(suite), hex('00')];
  return message(2, Buffer.concat([...parts, u16(block.length), block]));
}

const certificateMessage = message(
  11,
  Buffer.concat([u24(opensslCertificate.length + 3), u24(opensslCertificate.length), opensslCertificate]),
);
const prime = Buffer.concat([Buffer.from([0]), Buffer.alloc(128, 0xff)]);
const dheKey = message(12, Buffer.concat([u16(129), prime, hex('0001 02 0001 09')]));
const ecdheKey = message(
  12,
  Buffer.concat([hex('03001d20'), Buffer.alloc(32, 0x11), hex('0804 0040'), Buffer.alloc(64)]),
);
const done = message(14, Buffer.alloc(0));
const retry = hex('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c');

export const tlsFlights: readonly Buffer[] = [
  record(22, Buffer.concat([serverHello(0x0033, 'ff01000100 00170000'), certificateMessage, dheKey, done])),
  Buffer.concat([
    record(22, serverHello(0xc02f, '00100005000302 6832')),
    record(22, certificateMessage.subarray(0, 100)),
    record(22, certificateMessage.subarray(100)),
    record(22, Buffer.concat([ecdheKey, done])),
  ]),
  Buffer.concat([
    record(22, serverHello(0x1301, '002b00020304 00330024001d0020' + '22'.repeat(32))),
    hex('140303000101'),
  ]),
  record(22, serverHello(0x1302, '002b00020304 003300020018', retry)),
  hex('15 0303 0002 02 28'),
  hex('801b 04 00 01 0002 0002 0006 0008 aabb 010080 0700c0 1122334455667788'),
];

/** What comes back to heartbeats, to secrets and to changes of cipher. */
export const tlsReactions: readonly Buffer[] = [
  Buffer.concat([hex('18 0303 0023 02 0010'), Buffer.alloc(32, 7)]),
  hex('15 0303 0002 0214'),
  hex('15 0303 0002 020a 15 0303 0002 0100'),
  hex('14 0303 0001 01 16 0303 0004 0e000000'),
];

/** A session of TLS 1.2 with a ticket, as Node.js gives it. */
const sessionFields = [
  hex('020101 02020303 0402c02f 0400'),
  element(0x04, Buffer.alloc(48, 3)),
  hex('a10602046b02825c a20402021c20 a904020200f0'),
  element(0xaa, element(0x04, Buffer.alloc(64, 5))),
  hex('af0402021000 b30302011d'),
];
export const tlsSessions: readonly Buffer[] = [
  Buffer.concat([latin1('\0nodejs:tls:session:1\0\0\x0910.9.0.1'), element(0x30, ...sessionFields)]),
  element(0x30, ...sessionFields),
];

const frame = (type: number, flags: number, stream: number, body: Buffer) =>
  Buffer.concat([u24(body.length), Buffer.from([type, flags]), u32(stream), body]);

/** Settings, their acknowledgement, the headers `:status: 200` and `server: x`, and a page. */
export const http2Responses: readonly Buffer[] = [
  Buffer.concat([
    frame(4, 0, 0, Buffer.alloc(0)),
    frame(4, 1, 0, Buffer.alloc(0)),
    frame(1, 4, 1, hex('88 76 01 78')),
    frame(0, 1, 1, latin1('<title>x</title>')),
  ]),
  Buffer.concat([frame(4, 0, 0, hex('000300000064')), frame(7, 0, 0, hex('0000000000000001'))]),
];

/** Texts that signatures name, in the answer that holds them. */
export const signatureResponses: readonly Buffer[] = builtinRules.signatures.flatMap(({ source, examples }) =>
  examples.flatMap(({ text }) => answerHolding(source, text) ?? []),
);

function answerHolding(source: string, text: string): Buffer | null {
  const header = /^http\.header\.(.+)$/.exec(source)?.[1];
  if (header) return latin1(`HTTP/1.1 200 OK\r\n${header}: ${text}\r\n\r\n`);
  switch (source) {
    case 'banner.raw':
      return latin1(text);
    case 'ssh.software':
      return latin1(`SSH-2.0-${text}\r\n`);
    case 'smtp.greeting':
      return latin1(`220 ${text}\r\n250-x\r\n250 SIZE\r\n`);
    case 'ftp.greeting':
      return latin1(`220 ${text}\r\n530 Please login with USER and PASS.\r\n`);
    case 'imap.greeting':
      return latin1(`* OK ${text}\r\n`);
    case 'pop3.greeting':
      return latin1(`+OK ${text}\r\n`);
    case 'http.title':
      return Buffer.from(`HTTP/1.1 200 OK\r\n\r\n<title>${text}</title>`);
    case 'http.body':
      return latin1(`HTTP/1.1 200 OK\r\n\r\n${text}`);
    default:
      return null;
  }
}
