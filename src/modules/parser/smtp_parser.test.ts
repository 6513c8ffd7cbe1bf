import { expect, test } from 'vitest';
import { bannerOf, runModule } from '../../../test/module-trial.ts';
import type { ParsedService } from '../../domain/service.ts';
import definition from './smtp_parser.ts';

const silent = bannerOf(1, '');
const other = bannerOf(2, 'hello\r\n');
const response = bannerOf(2525, '220 mx.example ESMTP Postfix\r\n250-mx.example\r\n250 STARTTLS\r\n');

test('recognizes mail servers on any port', async () => {
  const found = await runModule<ParsedService>(definition, { banners: [silent, response, other] });
  expect(found).toMatchObject([
    {
      host: '192.0.2.1',
      protocol: 'tcp',
      parser: 'smtp_parser',
      port: 2525,
      service: 'smtp',
      truncated: false,
      attributes: { smtp: { code: 220, hostname: 'mx.example', starttls: true } },
    },
  ]);
});
