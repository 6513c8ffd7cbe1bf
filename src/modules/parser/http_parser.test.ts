import { expect, test } from 'vitest';
import { bannerOf, runModule } from '../../../test/module-trial.ts';
import type { ParsedService } from '../../domain/service.ts';
import definition from './http_parser.ts';

const silent = bannerOf(1, '');
const other = bannerOf(2, 'hello\r\n');
const page = 'HTTP/1.1 200 OK\r\nServer: nginx\r\n\r\n<title>Hello</title>';
const tls = { version: 'TLSv1.2', cipher: 'ECDHE-RSA-AES256-GCM-SHA384', alpn: null, chain: [] };
const response = bannerOf(8888, page, { tls });

test('recognizes HTTP on any port, also in TLS', async () => {
  const found = await runModule<ParsedService>(definition, { banners: [silent, response, other] });
  expect(found).toMatchObject([
    {
      host: '192.0.2.1',
      protocol: 'tcp',
      parser: 'http_parser',
      port: 8888,
      service: 'https',
      truncated: false,
      attributes: { http: { status: 200, title: 'Hello', server: 'nginx' } },
    },
  ]);
});

test('max_body cuts a body', async () => {
  const found = await runModule<ParsedService>(
    definition,
    { banners: [bannerOf(80, page)] },
    { max_body: 4 },
  );
  expect(found).toMatchObject([
    { service: 'http', truncated: true, attributes: { http: { body_size: 4, title: null } } },
  ]);
});

test('further sites of a port have facts of their own', async () => {
  const site = (name: string, body: string, probe = 'http') => ({
    ...bannerOf(80, body && `HTTP/1.1 200 OK\r\n\r\n${body}`, { probe }),
    name,
  });
  const sites = [site('v2.test', '<title>Two</title>'), site('v3.test', ''), site('v2.test', '', 'favicon')];
  const found = await runModule<ParsedService>(definition, { banners: [bannerOf(80, page, { sites })] });
  expect(found).toMatchObject([
    {
      service: 'http',
      attributes: {
        http: { title: 'Hello' },
        sites: [{ name: 'v2.test', http: { title: 'Two' } }, { name: 'v3.test' }],
      },
    },
  ]);
  expect(found).toHaveLength(1);
});
