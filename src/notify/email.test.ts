import { expect, it } from 'vitest';
import { htmlFaults } from '../../test/valid-html.ts';
import { htmlBody } from './email.ts';

it.each([null, 'https://scanner.example/ui/scans/1?a=b&c=d'])('a mail is valid HTML: %s', async (url) => {
  const body = htmlBody(
    '<b>Scan</b> & more',
    [
      ['Targets', '"<script>alert(1)</script>"'],
      ['Note', ''],
    ],
    url,
  );
  expect(await htmlFaults(body)).toEqual([]);
});
