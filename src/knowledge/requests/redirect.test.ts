import { expect, test } from 'vitest';
import { redirectPath } from './redirect.ts';

const place = { host: '192.0.2.1', port: 8080, name: 'shop.test', secure: false };
const moved = (target: string) => Buffer.from(`HTTP/1.1 302 Found\r\nLocation: ${target}\r\n\r\n`, 'latin1');

test.each([
  ['/login', '/login'],
  ['login?next=%2F', '/login?next=%2F'],
  ['/ui/#home', '/ui/'],
  ['http://192.0.2.1:8080/a', '/a'],
  ['http://SHOP.test:8080/a', '/a'],
  ['/', null],
  ['#top', null],
  ['http://192.0.2.1/a', null],
  ['https://192.0.2.1:8080/a', null],
  ['http://192.0.2.2:8080/a', null],
  ['//192.0.2.2:8080/a', null],
  ['http://[::1/a', null],
  ['javascript:alert(1)', null],
  ['/caf\xe9', null],
  ['/a\0b', null],
])('a redirect to %j is followed to %j', (target, path) => {
  expect(redirectPath(moved(target), place)).toBe(path);
});

test('a refresh in the page counts as a redirect; a response without either does not', () => {
  const page = 'HTTP/1.1 200 OK\r\n\r\n<meta http-equiv="refresh" content="0; url=/cgi-bin/index.cgi">';
  expect(redirectPath(Buffer.from(page), place)).toBe('/cgi-bin/index.cgi');
  expect(redirectPath(Buffer.from('HTTP/1.1 200 OK\r\nLocation: /a\r\n\r\n'), place)).toBeNull();
  expect(redirectPath(Buffer.alloc(0), place)).toBeNull();
});

test('IPv6 addresses and TLS are the same place, too', () => {
  const six = { host: 'fe80::1%eth0', port: 443, name: null, secure: true };
  expect(redirectPath(moved('https://[fe80::1]/a'), six)).toBe('/a');
});

test('of a page without an end the first 8192 bytes are looked at', () => {
  const head = 'HTTP/1.1 200 OK\r\n\r\n';
  const refresh = '<meta http-equiv="refresh" content="0; url=/a">';
  const page = (before: number) => Buffer.from(`${head}${' '.repeat(before - head.length)}${refresh}`);
  expect(redirectPath(page(8192 - refresh.length), place)).toBe('/a');
  expect(redirectPath(page(8192), place)).toBeNull();
  for (const bait of ['<meta ', '<meta refresh url=', 'refresh', 'Location: '])
    expect(redirectPath(Buffer.from(`${head}${bait.repeat(5000)}`), place)).toBeNull();
});
