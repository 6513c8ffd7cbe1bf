import { expect, test } from 'vitest';
import { buildLines, namedProduct, pageText, serverProducts } from './http-text.ts';

test.each([
  ['nzbget-21.0', 'nzbget/21.0'],
  ['Webdis', 'Webdis'],
  ['mitmproxy 8.1.1', 'mitmproxy/8.1.1'],
  ['ZNC 1.8.2+deb3.1 - https://znc.in', 'ZNC/1.8.2'],
  ['libwww-perl-daemon/6.16', 'libwww-perl-daemon/6.16'],
  ['WebSockify Python/3.11.2', 'WebSockify'],
  ['Linux/4.9 UPnP/1.0 Example/2.1', 'Example/2.1'],
  ['Example Media Server/1.2.3 (Linux)', 'Example Media Server/1.2.3'],
  ['rclone/v1.60.1-DEV', 'rclone/1.60.1'],
  ['Linux/2.6 UPnP/1.0', null],
  ['Python/3.11', null],
  ['web server', null],
  ['Server', null],
  ['1.2.3', null],
  ['', null],
  ['\xff\xfe<script>', null],
])('the header %j seems to name %j', (server, product) => {
  expect(namedProduct(server)).toBe(product);
});

test('a Server header yields its products without comments', () => {
  expect(serverProducts('Apache/2.4.6 (CentOS) OpenSSL/1.0.2k-fips mod_perl/2.0 PHP/5.4.16')).toEqual([
    'Apache/2.4.6',
    'OpenSSL/1.0.2k-fips',
    'mod_perl/2.0',
    'PHP/5.4.16',
  ]);
  expect(serverProducts('a/1 '.repeat(100)).length).toBe(20);
});

test('page text omits style sheets', () => {
  expect(pageText(Buffer.from('<p>a<STYLE type="x">p {}</style>b<style>c'))).toBe('<p>ab<style>c');
});

test('finds build lines in metrics and omits the one of the language runtime', () => {
  const metrics =
    '# HELP x\ngo_build_info{version="(devel)"} 1\nnode_exporter_build_info{version="1.5.0"} 1\nnode_load1 0.1\n' +
    'vm_app_version{version="victoria-metrics-v1.79.2"} 1\n';
  expect(buildLines(metrics)).toBe(
    'node_exporter_build_info{version="1.5.0"} 1\nvm_app_version{version="victoria-metrics-v1.79.2"} 1',
  );
  expect(buildLines('<p>no list</p>')).toBe('');
});

test('parsing hostile headers and pages takes one pass', () => {
  for (const bait of ['a-', 'A/1.', '(', '((', ' a', '1.1.', '<style', '\na_build_info{', 'app_version{\n']) {
    const text = bait.repeat(30_000);
    namedProduct(text.slice(0, 4096));
    serverProducts(text.slice(0, 4096));
    buildLines(pageText(Buffer.from(text, 'latin1')));
  }
});
