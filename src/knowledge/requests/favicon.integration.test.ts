import { execFileSync } from 'node:child_process';
import { describe, expect, it, test } from 'vitest';
import { isInstalled } from '../../../test/installed.ts';
import { parseHttp } from '../protocols/http.ts';
import { iconPath, iconPrints, type PageOrigin } from './favicon.ts';
import { murmur3 } from './murmur3.ts';

const origin: PageOrigin = { host: '192.0.2.1', port: 8080, name: 'www.example', secure: false };
const page = (body: string, status = '200 OK', type = 'text/html; charset=utf-8') =>
  Buffer.from(`HTTP/1.1 ${status}\r\nServer: x\r\nContent-Type: ${type}\r\n\r\n${body}`, 'latin1');

test.each([
  ['', 0],
  ['a', 1009084850],
  ['foo', -156908512],
  ['hello', 613153351],
  ['The quick brown fox jumps over the lazy dog', 776992547],
])('murmur3 of %j', (text, hash) => {
  expect(murmur3(Buffer.from(text))).toBe(hash);
});

describe('the path of an icon', () => {
  it.each([
    ['<html><head><title>x</title></head>', '/favicon.ico'],
    [
      '<link rel="stylesheet" href="a.css"><link rel="icon" type="image/png" href="/img/i.png?v=1">',
      '/img/i.png?v=1',
    ],
    ["<link href='images/favicon.ico' rel='shortcut icon' />", '/images/favicon.ico'],
    ['<link rel=icon href=./a.svg>', '/a.svg'],
    ['<link rel="icon" href="http://192.0.2.1:8080/b.ico">', '/b.ico'],
    ['<link rel="icon" href="http://www.example:8080/b.ico">', '/b.ico'],
    ['<link rel="icon" href="/a.ico?x=1&amp;y=2">', '/a.ico?x=1&y=2'],
    ['<link rel="icon" href="https://192.0.2.1:8080/b.ico">', '/favicon.ico'],
    ['<link rel="icon" href="http://192.0.2.1/b.ico">', '/favicon.ico'],
    ['<link rel="icon" href="//cdn.example/b.ico">', '/favicon.ico'],
    ['<link rel="icon" href="//cdn.example:8080/b.ico">', '/favicon.ico'],
    ['<link rel="icon" href="data:image/png;base64,AAAA">', '/favicon.ico'],
    ['<link rel="icon" href="javascript:alert(1)">', '/favicon.ico'],
    ['<link rel="icon" href="/a\r\nX-Evil: 1">', '/favicon.ico'],
    ['<link rel="icon" href="http://[">', '/favicon.ico'],
    [`<link rel="icon" href="/${'a'.repeat(600)}">`, '/favicon.ico'],
    ['<link rel="mask-icon" href="/m.svg">', '/favicon.ico'],
    ['<link rel="icon" href="', '/favicon.ico'],
    ['<link'.repeat(3000), '/favicon.ico'],
  ])('%j', (body, path) => {
    expect(iconPath(page(body), origin)).toBe(path);
  });

  it('belongs to pages and redirects only', () => {
    expect(iconPath(page('{}', '200 OK', 'application/json'), origin)).toBeNull();
    expect(iconPath(Buffer.from('HTTP/1.1 302 Found\r\nLocation: /login\r\n\r\n'), origin)).toBe(
      '/favicon.ico',
    );
    expect(iconPath(page('x', '401 Unauthorized'), origin)).toBe('/favicon.ico');
    expect(iconPath(page('x', '429 Too Many Requests'), origin)).toBeNull();
    expect(iconPath(Buffer.from('SSH-2.0-x\r\n'), origin)).toBeNull();
    expect(iconPath(Buffer.alloc(0), origin)).toBeNull();
  });
});

const response = (body: Buffer, more = '', status = '200 OK') => {
  const head = `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n${more}\r\n`;
  const record = parseHttp(Buffer.concat([Buffer.from(head), body]));
  if (!record) throw new Error('no HTTP');
  return record;
};

/** A GIF of one pixel. */
const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

describe('the prints of an icon', () => {
  it('are over its bytes', () => {
    expect(iconPrints(response(pixel))).toEqual({
      size: 42,
      mmh3: murmur3(Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7\n')),
      md5: 'd89746888da2d9510b64a9f031eaecd5',
      sha256: 'ef1955ae757c8b966c83248350331bd3a30f658ced11f387f8ebf05ab3368629',
    });
  });

  it.skipIf(!isInstalled('python3'))('the text is that of encodebytes of Python', () => {
    const body = Buffer.concat([pixel, Buffer.alloc(200, 7)]);
    const script = 'import sys,base64;sys.stdout.buffer.write(base64.encodebytes(sys.stdin.buffer.read()))';
    const text = execFileSync('python3', ['-c', script], { input: body });
    expect(iconPrints(response(body))?.mmh3).toBe(murmur3(text));
  });

  it.each([
    ['a page', response(Buffer.from('<!DOCTYPE html><html>'))],
    ['nothing', response(Buffer.alloc(0))],
    ['a refusal', response(pixel, '', '404 Not Found')],
    ['too much', response(Buffer.concat([pixel, Buffer.alloc(65_536)]))],
    [
      'a part',
      parseHttp(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n'), pixel])),
    ],
  ])('%s has none', (_what, record) => {
    expect(record && iconPrints(record)).toBeNull();
  });

  it.each([
    ['<svg>', true],
    ['\n <?xml version="1.0"?><!DOCTYPE svg PUBLIC "x">\n<!-- a --><!-- b -->\n<svg width="1">', true],
    ['<!---->'.repeat(4) + '<svg>', true],
    ['<!---->'.repeat(5) + '<svg>', false],
    [`<!--${'x'.repeat(501)}--><svg>`, false],
    ['<!-- --> x <svg>', false],
    ['<svgx>', false],
  ])('%j is recognized as SVG: %s', (start, recognized) => {
    expect(iconPrints(response(Buffer.from(start, 'latin1'))) !== null).toBe(recognized);
  });

  it('pictures of other forms have some', () => {
    const svg = '<?xml version="1.0"?>\n<!-- x -->\n<svg xmlns="http://www.w3.org/2000/svg"/>';
    for (const start of ['\0\0\x01\0', '\x89PNG\r\n', 'GIF89a', '\xff\xd8\xff\xe0', 'RIFFabcdWEBP', svg])
      expect(iconPrints(response(Buffer.from(`${start}x`, 'latin1')))).not.toBeNull();
  });
});
