import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { dechunk, parseHttp, unpack } from './http.ts';

const parse = (text: string) => parseHttp(Buffer.from(text, 'latin1'));
const mebibyte = 1024 * 1024;

test('reads status, headers, cookies and authentication', () => {
  const record = parse(
    'HTTP/1.1 401 Unauthorized\r\nServer: nginx\r\nX-A: 1\r\nx-a: 2\r\nSet-Cookie: sid=secret; HttpOnly\r\n' +
      'WWW-Authenticate: Basic realm="Router"\r\nLocation: /login\r\nContent-Length: 2\r\n\r\nno',
  );
  expect(record?.facts).toMatchObject({
    version: '1.1',
    status: 401,
    reason: 'Unauthorized',
    headers: { server: 'nginx', 'x-a': '1, 2' },
    server: 'nginx',
    cookies: ['sid'],
    auth: [{ scheme: 'Basic', realm: 'Router' }],
    location: '/login',
    body_size: 2,
  });
  expect(JSON.stringify(record?.facts)).not.toContain('secret');
  expect(record?.truncated).toBe(false);
});

test.each([
  ['<title>A &amp; B &#8364; &#x1F600;</title>', 'A & B \u20ac \u{1f600}'],
  ['<TITLE lang="de">\n  Gr\xc3\xbc\xc3\x9fe \n</TITLE>', 'Gr\u00fc\u00dfe'],
  ['<title>&#xD800;&#0;&bogus;</title>', '\ufffd\ufffd&bogus;'],
  ['<title>latin1 \xe9</title>', 'latin1 \u00e9'],
  ['<title></title>', null],
  ['<title>never closed', 'never closed'],
])('the title of %j', (html, title) => {
  expect(parse(`HTTP/1.1 200 OK\r\n\r\n${html}`)?.facts.title).toBe(title);
});

test('a title is truncated to 512 characters', () => {
  const title =
    parse(`HTTP/1.1 200 OK\r\n\r\n<title>${'\xf0\x9f\x98\x80'.repeat(700)}</title>`)?.facts.title ?? '';
  expect(title.length).toBe(512);
  expect(title.isWellFormed()).toBe(true);
});

test('detects the technologies', () => {
  const { facts } = parse(
    'HTTP/1.1 200 OK\r\nX-Powered-By: PHP/8.2.7-1+deb12u1\r\nSet-Cookie: csrftoken=1\r\n\r\n' +
      '<meta name="generator" content="WordPress 6.4.2"><link href="/wp-content/a.css">',
  ) as { facts: { technologies: unknown; generator: string } };
  expect(facts.generator).toBe('WordPress 6.4.2');
  expect(facts.technologies).toEqual([
    { name: 'PHP', version: '8.2.7' },
    { name: 'WordPress', version: '6.4.2' },
    { name: 'Django', version: null },
  ]);
});

test('endless headers are truncated', () => {
  const record = parse(`HTTP/1.1 200 OK\r\n${'X-Filler: aaaaaaaaaaaaaaaa\r\n'.repeat(10_000)}`);
  expect(record?.truncated).toBe(true);
  expect(record?.facts.headers['x-filler']?.length).toBeLessThanOrEqual(4096);
});

test('a header named __proto__ is a header like others, also when the record is read back', () => {
  const record = parse('HTTP/1.1 200 OK\r\n__proto__: {"polluted":true}\r\nconstructor: x\r\n\r\n');
  const expected = [
    ['__proto__', '{"polluted":true}'],
    ['constructor', 'x'],
  ];
  expect(Object.entries(record?.facts.headers ?? {})).toEqual(expected);
  expect(Object.entries(JSON.parse(JSON.stringify(record)).facts.headers)).toEqual(expected);
  expect('polluted' in (record?.facts.headers ?? {})).toBe(false);
});

test.each([
  ['negative', '-5\r\nhello\r\n', ''],
  ['2^64', 'FFFFFFFFFFFFFFFF\r\nhello\r\n', ''],
  ['larger than what came', '1000\r\nhello', 'hello'],
  ['no number', 'xyz\r\nhello\r\n', ''],
  ['cut before its line end', '5', ''],
])('a chunk size that is %s ends the body', (_, raw, body) => {
  const result = dechunk(Buffer.from(raw));
  expect(result.body.toString()).toBe(body);
  expect(result.truncated).toBe(true);
});

test('one-byte chunks with long extensions end with the input', () => {
  const result = dechunk(Buffer.from(`1;${'x'.repeat(8192)}\r\na\r\n`.repeat(127)));
  expect(result.body.toString()).toBe('a'.repeat(127));
  expect(result.truncated).toBe(true);
});

test('joining half a million one-byte chunks takes one pass', () => {
  const { body } = dechunk(Buffer.from('1\r\na\r\n'.repeat(500_000)));
  expect(body.equals(Buffer.alloc(500_000, 'a'))).toBe(true);
});

test('an endless chunk extension ends the body', () => {
  expect(dechunk(Buffer.from(`5;${'x'.repeat(100_000)}`)).body.length).toBe(0);
});

test('compressed bodies are decompressed', () => {
  const body = Buffer.from('<title>packed</title>');
  expect(unpack(gzipSync(body), 'gzip', mebibyte).body).toEqual(body);
  expect(unpack(deflateSync(body), 'deflate', mebibyte).body).toEqual(body);
  expect(unpack(deflateRawSync(body), 'deflate', mebibyte).body).toEqual(body);
  expect(unpack(gzipSync(body).subarray(0, 20), 'gzip', mebibyte).body.length).toBeLessThanOrEqual(
    body.length,
  );
});

test('a compression bomb is truncated at the limit', () => {
  const bomb = gzipSync(Buffer.concat([Buffer.from('<title>bomb</title>'), Buffer.alloc(64 * mebibyte)]));
  const before = process.memoryUsage.rss();
  const record = parseHttp(
    Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n'), bomb]),
  );
  expect(process.memoryUsage.rss() - before).toBeLessThan(64 * mebibyte);
  expect(record?.facts).toMatchObject({ title: 'bomb' });
  expect(record?.facts.body_size).toBeLessThanOrEqual(mebibyte);
  expect(record?.truncated).toBe(true);
});

test('a page without a status line is HTTP/0.9, only in response to a request', () => {
  const page = Buffer.from('\r\n<!DOCTYPE html><html><head><title>Old device</title></head></html>');
  expect(parseHttp(page)).toBeNull();
  expect(parseHttp(page, undefined, true)?.facts).toMatchObject({
    version: '0.9',
    title: 'Old device',
    headers: {},
  });
  for (const text of ['<policy-file-request/>', '<html5>', '<', 'hello', '<stream:stream'])
    expect(parseHttp(Buffer.from(text), undefined, true)).toBeNull();
});

test('input that is not HTTP yields null', () => {
  for (const text of ['', 'HTTP', 'HTTP/1.1', 'ICY 200 OK', ' HTTP/1.1 200 OK'])
    expect(parse(text)).toBeNull();
});

test('title and generator are read in the encoding of the response, outside of comments', () => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=GBK\r\n\r\n';
  const page = '<!-- <title>Welcome to nginx!</title> --><title>\xb2\xe2\xca\xd4</title>';
  const { facts } = parseHttp(Buffer.from(head + page, 'latin1')) as { facts: { title: string | null } };
  expect(facts.title).toBe('测试');
});
