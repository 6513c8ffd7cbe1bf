import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeBytes } from './banner.ts';
import { readableBanner, readableLine } from './readable-banner.ts';

const of = (bytes: string | Buffer) => readableBanner(describeBytes(Buffer.from(bytes)));

describe('the readable part of a banner', () => {
  it.each([
    ['a greeting', '220 mail.example.net ESMTP\r\n', '220 mail.example.net ESMTP'],
    ['lines', '220-one\r\n220 two\r\n', '220-one\n220 two'],
    [
      'a key exchange',
      'SSH-2.0-OpenSSH_9.2p1\r\n\0\0\x04\x14\x0a\x14abcd,curve25519',
      'SSH-2.0-OpenSSH_9.2p1',
    ],
    [
      'a page',
      'HTTP/1.0 200 OK\r\nA: b\r\nSERVER: nginx\r\n\r\n<html>\r\nServer: no',
      'HTTP/1.0 200 OK\nSERVER: nginx',
    ],
    ['a page without headers', '<!doctype html>\n<title>x</title>', '<!doctype html>'],
    ['a database', Buffer.from('J\0\0\0\n5.7.33-log\0\x08\0\0\0Ab#$', 'latin1'), '5.7.33-log'],
    ['a terminal', Buffer.from('\xff\xfd\x18\xff\xfb\x01login: ', 'latin1'), 'login:'],
    ['UTF-8', 'grüß dich \u{1f600}', 'grüß dich \u{1f600}'],
    ['Latin-1', Buffer.from('220 caf\xe9 ready', 'latin1'), '220 caf\\xe9 ready'],
    ['a color', '220 \x1b[31mowned\x1b[0m', '220 \x1b[31mowned\x1b[0m'],
    ['only bytes', Buffer.from([3, 0, 0, 19, 14, 208, 0, 0, 18, 52]), ''],
    ['nothing', '', ''],
    ['the id of a request', Buffer.from('PO\x84\0\0\x01', 'latin1'), ''],
    ['a length that is a letter', Buffer.from('0g\x02\x01\x01a\x84\0\0\0', 'latin1'), ''],
    [
      'a name server',
      Buffer.from(
        'PO\x85\0\0\x01\0\x01\0\0\0\0\x07version\x04bind\0\0\x10\0\x03\xc0\x0c\0\x10\0\x03\0\0\0\0\0\x07\x069.18.1',
        'latin1',
      ),
      '9.18.1',
    ],
    [
      'an agent of SNMP',
      Buffer.from('0\x82\0\x3a\x02\x01\x01\x04\x06public\xa2\x82\0\x04\x06\0Example switch 7\0', 'latin1'),
      'Example switch 7',
    ],
  ])('of %s', (_name, bytes, readable) => {
    expect(of(bytes)).toBe(readable);
  });

  it('is one line where only one is wanted: the server of a page that is there', () => {
    const line = (banner: string) => readableLine({ banner });
    expect(line('HTTP/1.1 200 OK\r\nServer: nginx\r\n\r\n')).toBe('Server: nginx');
    expect(line('HTTP/1.1 401 Unauthorized\r\nServer: nginx\r\n\r\n')).toBe('HTTP/1.1 401 Unauthorized');
    expect(line('RTSP/1.0 200 OK\r\n\r\n')).toBe('RTSP/1.0 200 OK');
    expect(line('220-one\r\n220 two')).toBe('220-one');
  });

  it('is bounded, well-formed and never binary, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 8000, size: 'max' }), (bytes) => {
        const text = of(Buffer.from(bytes));
        expect(text.length).toBeLessThanOrEqual(4 * 512 + 1);
        expect(text.isWellFormed()).toBe(true);
        expect(text).not.toMatch(/\0|[\x01-\x08\x0e-\x1f]{2}/);
      }),
    );
    expect(of('x'.repeat(600))).toBe(`${'x'.repeat(512)}…`);
    expect(of('a\n'.repeat(20)).split('\n')).toHaveLength(10);
    const cut = `${'€'.repeat(2000)}`;
    expect(of(cut)).toBe(`${'€'.repeat(512)}…`);
  });
});
