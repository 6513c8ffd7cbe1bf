import { describe, expect, it } from 'vitest';
import { maxLines } from './line-reader.ts';
import type { ResponseForm } from './response-form.ts';
import { readGreeting, readGuess, readResponse } from './response-reader.ts';

/** Feeds the bytes one by one and returns the length at which the response was complete, 0 = never. */
function drip(form: ResponseForm, text: string, maxBody?: number): number {
  const bytes = Buffer.from(text, 'latin1');
  const reader = readResponse(form, maxBody);
  for (let length = 1; length <= bytes.length; length++) {
    const end = reader.end(bytes.subarray(0, length));
    if (end > 0) return end;
  }
  return 0;
}

const http = (headers: string, body: string) => `HTTP/1.1 200 OK\r\n${headers}\r\n\r\n${body}`;

describe('readAnswer', () => {
  const cases: [ResponseForm, string, string][] = [
    ['line', 'one\n', 'two\n'],
    ['ssh-version', 'welcome\r\nSSH-2.0-x\r\n', '\0\0'],
    ['ssh-packet', '\0\0\0\x02ab', 'more'],
    ['reply', '220-a\r\n220-b\r\n220 c\r\n', '250 x\r\n'],
    ['reply', '250\r\n', ''],
    ['reply', '211-Features:\r\n UTF8\r\n211 End\r\n', ''],
    ['tagged', '* CAPABILITY IMAP4\r\na1 OK done\r\n', '* x'],
    ['dotted', '+OK\r\nTOP\r\n.\r\n', '+OK\r\n'],
    ['dotted', '-ERR no\r\n', ''],
    ['redis', '$3\r\nabc\r\n', '+x'],
    ['redis', '-ERR no\r\n', ''],
    ['mysql', '\x02\0\0\0ab', 'c'],
    ['postgresql', 'E\0\0\0\x05x', 'y'],
    ['postgresql', 'R\0\0\0\x08\0\0\0\0E\0\0\0\x05x', 'y'],
    ['postgresql', 'R\0\0\0\x08\0\0\0\x0a', 'y'],
    ['dns', '\0\x02ab', 'c'],
    ['byte', 'S', 'E'],
    ['two', '\x05\0', 'x'],
    ['word', '\0\0\x04\x04', 'x'],
    ['five', 'AB\0\x01\x09', 'x'],
    ['tds', '\x04\x01\0\x0a\0\0\x01\0ab', 'c'],
    ['tns', '\0\x0a\0\0\x04\0\0\0ab', 'c'],
    ['counted', '\0\0\0\x02ab', 'c'],
    ['cassandra', '\x84\0\0\0\x06\0\0\0\x02ab', 'c'],
    ['dcerpc', '\x05\0\x0c\x03\x10\0\0\0\x0c\0ab', 'c'],
    ['ldap', '0\x07\x02\x01\x01d\x02\x04\x000\x07\x02\x01\x01e\x02\x0a\x00', '0'],
    ['ldap', '0\x05\x02\x01\x01a\x00', '0'],
    ['mqtt', '\x20\x02\0\0', '\x90'],
    ['mqtt-publish', '\x90\x03\0\x01\x00\x31\x04\0\x01a1', '\x31'],
    ['amqp', '\x01\0\0\0\0\0\x02ab\xce', 'c'],
    ['head', 'SIP/2.0 200 OK\r\nServer: x\r\n\r\n', 'body'],
    ['xml-stream', "<?xml version='1.0'?><stream:stream id='1'><stream:features/>", '<'],
    ['xml-stream', '<stream:stream><stream:error/></stream:stream>', '<'],
    ['http', http('Content-Length: 3', 'abc'), 'HTTP/1.1'],
    ['http', http('Transfer-Encoding: chunked', '3;x=y\r\nabc\r\n0\r\nT: 1\r\n\r\n'), 'x'],
    ['http', 'HTTP/1.1 204 No Content\r\n\r\n', 'x'],
    ['http', 'HTTP/1.0 200 OK\nContent-Length: 1\n\nx', 'y'],
  ];
  it.each(cases)('%s ends where the protocol says: %j', (form, response, after) => {
    expect(drip(form, response + after)).toBe(response.length);
    expect(readResponse(form).end(Buffer.from(response + after, 'latin1'))).toBe(response.length);
    expect(drip(form, response.slice(0, -1))).toBe(0);
  });

  it('caps lines, headers and bodies', () => {
    const lines = readResponse('reply');
    expect(lines.end(Buffer.from('220-x\n'.repeat(500)))).toBe(6 * maxLines);
    expect(lines.capped).toBe(true);
    const headers = readResponse('http');
    expect(headers.end(Buffer.alloc(70_000, 'A'))).toBe(65_536);
    expect(headers.capped).toBe(true);
    const head = http('Content-Length: 5000', '');
    const body = readResponse('http', 1000);
    expect(body.end(Buffer.from(head + 'x'.repeat(1001)))).toBe(head.length + 1000);
    expect(body.capped).toBe(true);
  });

  it.each(['-5\r\nx', '10000000000000000\r\nx', 'zz\r\nx', 'x'.repeat(20_000)])(
    'ends a chunked body at a size that is none: %.20s',
    (chunk) => {
      expect(drip('http', http('Transfer-Encoding: chunked', chunk))).toBeGreaterThan(0);
    },
  );
});

describe('readGreeting', () => {
  it.each([
    ['SSH-2.0-x\r\n', true],
    ['220-a\r\n220 b\r\n', true],
    ['* OK ready\r\n', true],
    ['+OK ready\r\n', true],
    ['RFB 003.008\n', true],
    ['\x07\0\0\0\x0a5.7.1\0', true],
    ['hello\n', false],
    ['hi\n', false],
  ])('%j', (text, known) => {
    const reader = readGreeting();
    const bytes = Buffer.from(text, 'latin1');
    let end = 0;
    for (let length = 1; length <= bytes.length && end === 0; length++)
      end = reader.end(bytes.subarray(0, length));
    expect(end).toBe(text.startsWith('\x07') ? 11 : text.length);
    expect(reader.known).toBe(known);
  });
});

it.each([
  ['220-a\r\n', true],
  ['220-a\r\n123 b\r\n', true],
  ['220-a\r\n250 b\r\n', true],
  ['220-a\r\n220 ', true],
  ['220-a\r\n'.repeat(200), true],
  ['220-a\r\n220 b\r\n', false],
  ['220-a\r\n220\r\n', false],
  ['220 a', false],
  ['hello', false],
])('the greeting %j is unfinished: %s', (text, unfinished) => {
  const reader = readGreeting();
  reader.end(Buffer.from(text, 'latin1'));
  expect(reader.unfinished).toBe(unfinished);
});

describe('readGuess', () => {
  const page = 'HTTP/1.1 400 Bad request\r\nContent-Length: 4\r\n\r\na\nb\n';
  it.each<[ResponseForm, string, number, boolean]>([
    ['line', page, page.length, true],
    ['redis', page, page.length, true],
    ['tpkt', page, page.length, true],
    ['http', page, page.length, true],
    ['line', 'HTTPS\n', 6, false],
    ['line', 'hello\nworld\n', 6, false],
    ['byte', 'HTTP/1.1 204 No Content\r\n\r\n', 27, true],
    ['five', page, page.length, true],
    ['five', 'HELLO there', 5, false],
    ['http', 'ICY 200 OK\r\nicy-name:x\r\n\r\nmusic', 26, false],
    ['byte', 'I', 1, false],
    ['byte', '\x09', 1, false],
  ])('the response to a request of form %s: %j', (form, text, length, isHttp) => {
    const bytes = Buffer.from(text, 'latin1');
    const reader = readGuess(form);
    let end = 0;
    for (let size = 1; size <= bytes.length && end === 0; size++) end = reader.end(bytes.subarray(0, size));
    expect(end).toBe(length);
    expect(reader.isHttp).toBe(isHttp);
  });
});
