import { expect, test } from 'vitest';
import { bannerOf, runModule } from '../../../test/module-trial.ts';
import type { ParsedService } from '../../domain/service.ts';
import { tlsRejection } from '../../domain/text/banner.ts';
import definition from './tls_parser.ts';

const silent = bannerOf(1, '');
const other = bannerOf(2, 'hello\r\n');
const tls = { version: 'TLSv1', cipher: 'AES128-SHA', alpn: null, chain: ['AAAA'] };
const response = bannerOf(4433, 'HTTP/1.1 200 OK\r\n\r\n', { tls });

test('describes the handshake and names what runs inside', async () => {
  const found = await runModule<ParsedService>(definition, { banners: [silent, response, other] });
  expect(found).toMatchObject([
    {
      host: '192.0.2.1',
      protocol: 'tcp',
      parser: 'tls_parser',
      port: 4433,
      service: 'https',
      attributes: {
        tls: { version: 'TLSv1.0', versions: ['TLSv1.0'], certificate: { error: expect.any(String) } },
      },
    },
  ]);
});

test('TLS around silence is called tls', async () => {
  const found = await runModule<ParsedService>(definition, { banners: [bannerOf(4433, '', { tls })] });
  expect(found).toMatchObject([{ service: 'tls' }]);
});

test('keeps what a server showed before it ended the handshake, and its alert', async () => {
  const shown = {
    ...tls,
    client_certificate: 'required' as const,
    error: `${tlsRejection} handshake failure`,
  };
  const banners = [
    bannerOf(443, '', { tls: shown }),
    bannerOf(444, '', { tls_error: `${tlsRejection} unrecognized name` }),
    bannerOf(445, '', { tls_error: 'the peer closed the connection during the handshake' }),
  ];
  const found = await runModule<ParsedService>(definition, { banners });
  expect(found).toMatchObject([
    {
      port: 443,
      service: 'tls',
      attributes: { tls: { versions: ['TLSv1.0'], client_certificate: 'required', error: shown.error } },
    },
    { port: 444, service: 'tls', attributes: { tls: { error: `${tlsRejection} unrecognized name` } } },
  ]);
});
