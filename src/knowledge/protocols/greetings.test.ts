import { expect, test } from 'vitest';
import { parseFtp } from './ftp.ts';
import { parseReplies, replyLineLimit } from './reply.ts';
import { parseSmtp } from './smtp.ts';
import { parseSsh } from './ssh.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');

test('SSH: software, comment and lines before the identification', () => {
  const record = parseSsh(latin1('notice\r\nSSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n'));
  expect(record?.facts).toEqual({ version: '2.0', software: 'OpenSSH_9.2p1', comment: 'Debian-2+deb12u3' });
});

test.each([
  ['longer than the data', '\x00\x00\x80\x00\x04\x14'],
  ['above the largest', '\xff\xff\xff\xff\x04\x14'],
  ['shorter than its padding', '\x00\x00\x00\x05\x10\x14aaa'],
  [
    'with a list beyond its end',
    `\x00\x00\x00\x20\x04\x14${'c'.repeat(16)}\xff\xff\xff\xff${'p'.repeat(20)}`,
  ],
])('SSH: a packet length %s yields no lists', (_, packet) => {
  const record = parseSsh(latin1(`SSH-2.0-x\r\n${packet}`));
  expect(record?.facts.software).toBe('x');
  expect(record?.facts.kex_algorithms).toBeUndefined();
});

test('SMTP: greeting, extensions, STARTTLS and AUTH methods', () => {
  const record = parseSmtp(
    latin1(
      '220 mail.example ESMTP\r\n250-mail.example\r\n250-size 1000\r\n250-STARTTLS\r\n250-AUTH=PLAIN login\r\n250 DSN\r\n',
    ),
  );
  expect(record).toEqual({
    facts: {
      code: 220,
      greeting: 'mail.example ESMTP',
      hostname: 'mail.example',
      extensions: ['SIZE 1000', 'STARTTLS', 'AUTH=PLAIN login', 'DSN'],
      starttls: true,
      auth_methods: ['PLAIN', 'LOGIN'],
    },
    truncated: false,
  });
});

test('FTP: greeting, features, system and AUTH TLS', () => {
  const record = parseFtp(
    latin1(
      '220 (vsFTPd 3.0.3)\r\n211-Features:\r\n AUTH TLS\r\n EPRT\r\n UTF8\r\n211 End\r\n215 UNIX Type: L8\r\n',
    ),
  );
  expect(record?.facts).toEqual({
    code: 220,
    greeting: '(vsFTPd 3.0.3)',
    features: ['AUTH TLS', 'EPRT', 'UTF8'],
    system: 'UNIX Type: L8',
    auth_tls: true,
  });
});

test('responses distinguish mail servers from file servers', () => {
  const plain = latin1('220 host ready\r\n');
  expect([parseSmtp(plain), parseFtp(plain)]).toEqual([null, null]);
  const enhanced = latin1('220 host ready\r\n502 5.5.1 Unrecognized command\r\n');
  expect(parseSmtp(enhanced)).not.toBeNull();
  expect(parseFtp(enhanced)).toBeNull();
  const login = latin1('220 host ready\r\n530 Please login with USER and PASS.\r\n');
  expect(parseSmtp(login)).toBeNull();
  expect(parseFtp(login)).not.toBeNull();
});

test.each([
  ['SMTP', parseSmtp, '220-mx.example ESMTP line\r\n'],
  ['FTP', parseFtp, '220-FTP server line\r\n'],
])('%s: a reply without end is read in one pass, cut, and still named', (_, parse, line) => {
  const record = parse(latin1(line.repeat(50_000)));
  expect(record?.truncated).toBe(true);
  expect(record?.facts.greeting.split('\n')).toHaveLength(replyLineLimit);
});

test('parsing stops at the first line that is not a reply', () => {
  expect(parseReplies(latin1('220 a\r\nnonsense\r\n220 b\r\n'))).toEqual([
    { code: 220, lines: ['a'], complete: true },
  ]);
  expect(parseReplies(latin1('999 a\r\n'))).toEqual([]);
});
