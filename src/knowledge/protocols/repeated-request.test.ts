import { describe, expect, it } from 'vitest';
import { httpRequestFor } from '../requests/http-request.ts';
import { sipOptions } from '../requests/sip-request.ts';
import { isBlank, withoutRepeats } from './repeated-request.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const get = httpRequestFor('/portolan-no-such-page')('198.51.100.7', undefined, 8080);
const sip = sipOptions('TCP');
const left = (response: string, request = get) =>
  withoutRepeats(latin1(response), [latin1(request)])
    .toString('latin1')
    .replace(/\s+/g, ' ')
    .trim();

const reversed = (text: string) => [...text].reverse().join('');
const base64 = (text: string) => latin1(text).toString('base64');
const hex = (text: string) => latin1(text).toString('hex');
const html = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('/', '&#x2F;')
    .replaceAll('\r\n', '<br>\n')
    .replaceAll('"', '&quot;');

describe('what a response repeats of its request', () => {
  it.each([
    ['as it is', (text: string) => text],
    ['in upper case', (text: string) => text.toUpperCase()],
    ['in lower case', (text: string) => text.toLowerCase()],
    ['reversed', reversed],
    ['in Base64', base64],
    ['in hexadecimal', hex],
    [
      'in hexadecimal, spaced',
      (text: string) =>
        hex(text)
          .toUpperCase()
          .replace(/..(?=.)/g, '$& '),
    ],
    ['in a URL', encodeURIComponent],
    ['in JSON', (text: string) => JSON.stringify(text).slice(1, -1)],
    ['in UTF-16', (text: string) => Buffer.from(text, 'utf16le').toString('latin1')],
  ])('is nothing: %s', (_form, encode) => {
    for (const request of [get, sip]) {
      const response = latin1(encode(request));
      expect(isBlank(withoutRepeats(response, [latin1(request)]))).toBe(true);
    }
  });

  it.each([
    ['behind a text', `you said: ${get}`, 'you said:'],
    ['before a text', `${get} - thank you`, '- thank you'],
    ['the first line', 'you said: GET /portolan-no-such-page HTTP/1.1\r\n', 'you said:'],
    ['encoded with a text', base64(`you: ${get}`), base64('you: ').slice(0, 4)],
    [
      'in an error page',
      'HTTP/1.1 404 Not Found\r\n\r\nCannot GET /portolan-no-such-page',
      'HTTP/1.1 404 Not Found Cannot GET /',
    ],
    ['the name of the browser', 'HTTP/1.1 200 OK\r\nServer: Portolan/0.1\r\n\r\n', 'HTTP/1.1 200 OK Server:'],
    ['the name in Base64', `Server: ${base64('Portolan/0.1')}\r\n`, 'Server:'],
    ['the name backwards', 'Server: 1.0/nalotroP\r\n', 'Server:'],
  ])('is cut out: %s', (_place, response, rest) => {
    expect(left(response)).toBe(rest);
  });

  it('is cut out where HTML escapes it', () => {
    expect(left(`<pre>${html(get)}</pre>`)).not.toMatch(/portolan|GET|HTTP/i);
  });

  it('is cut out with the requested path only of error pages', () => {
    const request = httpRequestFor('/solr/admin/info/system')('198.51.100.7');
    const page = (status: string) => `HTTP/1.1 ${status}\r\n\r\n<p>/solr/admin/info/system</p>`;
    expect(left(page('404 Not Found'), request)).toBe('HTTP/1.1 404 Not Found <p>/ </p>');
    expect(left(page('200 OK'), request)).toContain('/solr/admin/info/system');
  });

  it('keeps length and line ends, and the response itself if it repeats nothing', () => {
    const echo = withoutRepeats(latin1(get), [latin1(get)]);
    expect(echo).toHaveLength(get.length);
    expect(echo.toString('latin1').match(/\r\n/g)).toHaveLength(get.match(/\r\n/g)?.length ?? 0);
    const other = latin1('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n\r\n<html>');
    expect(withoutRepeats(other, [latin1(get)])).toBe(other);
    const lineEnd = latin1('\r\n');
    expect(withoutRepeats(lineEnd, [latin1('\r\n')])).toBe(lineEnd);
  });

  it('is nothing where it is cut, if it is half of the request', () => {
    const half = (response: string) => isBlank(withoutRepeats(latin1(response), [latin1('\x05\x01\0')]));
    expect([half('\x05\x01'), half('\x05'), half('\x05\0')]).toEqual([true, false, false]);
    expect(isBlank(withoutRepeats(latin1(get.slice(0, 80)), [latin1(get)]))).toBe(true);
  });

  it('is the opening of both sides too where the server repeats what follows', () => {
    const requests = ['@RSYNCD: 31.0\n', '#list\n'].map(latin1);
    const answered = (text: string) => isBlank(withoutRepeats(latin1(text), requests));
    expect(answered('@RSYNCD: 31.0\n#list\n')).toBe(true);
    expect(answered('@RSYNCD: 31.0\nfiles\tshared files\n@RSYNCD: EXIT\n')).toBe(false);
  });

  it.each([
    [
      'the name of the host',
      'GET / HTTP/1.1\r\nHost: portolan-web.example\r\nAccept: */*\r\n\r\n',
      'HTTP/1.1 200 OK <title>portolan-web.example</title>',
    ],
    ['a command that is a keyword of the response', 'AUTH TLS\r\n', '211- AUTH TLS UTF8'],
    ['a handshake of both sides', 'JDWP-Handshake', 'JDWP-Handshake'],
    ['the version of rsync', '@RSYNCD: 31.0\n', '@RSYNCD: 31.0\n'],
    [
      'a SIP server with the headers of the request',
      sip,
      `SIP/2.0 200 OK\r\n${sip.split('\r\n').slice(1, 6).join('\r\n')}\r\nServer: x\r\n\r\n`,
    ],
    [
      'a stream of XMPP',
      "<stream:stream to='portolan.invalid' xmlns='jabber:client'>",
      "<stream:stream from='portolan.invalid' xmlns='jabber:client' id='1'>",
    ],
    ['the identification of an SSH server', 'SSH-2.0-Portolan\r\n', 'SSH-2.0-paramiko_2.8.1\r\n'],
  ])('is not %s', (_name, request, response) => {
    expect(isBlank(withoutRepeats(latin1(response), [latin1(request)]))).toBe(false);
    if (!response.startsWith('SIP')) expect(left(response, request)).toBe(response.trim());
    else expect(left(response, request)).toMatch(/^SIP\/2\.0 200 OK .*Server: x$/);
  });
});
