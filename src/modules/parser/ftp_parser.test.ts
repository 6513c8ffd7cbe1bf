import { expect, test } from 'vitest';
import { bannerOf, runModule } from '../../../test/module-trial.ts';
import type { ParsedService } from '../../domain/service.ts';
import definition from './ftp_parser.ts';

const silent = bannerOf(1, '');
const other = bannerOf(2, 'hello\r\n');
const response = bannerOf(2121, '220 (vsFTPd 3.0.3)\r\n', { truncated: true });

test('recognizes file servers on any port and keeps that the banner was cut', async () => {
  const found = await runModule<ParsedService>(definition, { banners: [silent, response, other] });
  expect(found).toMatchObject([
    {
      host: '192.0.2.1',
      protocol: 'tcp',
      parser: 'ftp_parser',
      port: 2121,
      service: 'ftp',
      truncated: true,
      attributes: { ftp: { code: 220, greeting: '(vsFTPd 3.0.3)' } },
    },
  ]);
});
