import { expect, test } from 'vitest';
import { bannerOf, runModule } from '../../../test/module-trial.ts';
import type { Fingerprint } from '../../domain/service.ts';
import definition from './http_fingerprinter.ts';

test('keeps to its own evidence', async () => {
  const tls = { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', alpn: null, chain: [] };
  const banners = [
    bannerOf(22, 'SSH-2.0-OpenSSH_9.2p1\r\n'),
    bannerOf(80, 'HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\n\r\n'),
    bannerOf(443, '', { tls }),
    bannerOf(81, ''),
  ];
  const found = await runModule<Fingerprint>(definition, { banners });
  expect(found.map(({ port }) => port)).toEqual([80]);
  expect(found[0]?.source).toBe('http');
});
