import { expect, test } from 'vitest';
import { bannerOf, runModule } from '../../../test/module-trial.ts';
import type { ParsedService } from '../../domain/service.ts';
import definition from './ssh_parser.ts';

const silent = bannerOf(1, '');
const other = bannerOf(2, 'hello\r\n');
const response = bannerOf(2222, 'SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n');

test('recognizes SSH on any port', async () => {
  const found = await runModule<ParsedService>(definition, { banners: [silent, response, other] });
  expect(found).toMatchObject([
    {
      host: '192.0.2.1',
      protocol: 'tcp',
      parser: 'ssh_parser',
      port: 2222,
      service: 'ssh',
      truncated: false,
      attributes: { ssh: { version: '2.0', software: 'OpenSSH_9.2p1', comment: 'Debian-2+deb12u3' } },
    },
  ]);
});

test('sites of a web server are none of its business', async () => {
  const web = 'HTTP/1.1 200 OK\r\n\r\n';
  const banner = bannerOf(80, web, { sites: [{ ...bannerOf(80, web), name: 'v2.test' }] });
  expect(await runModule(definition, { banners: [banner] })).toEqual([]);
});
