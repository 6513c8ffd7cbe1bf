import { expect, test } from 'vitest';
import type { Banner } from '../../domain/text/banner.ts';
import { CheckResponse } from '../checks/check.ts';
import { factsOfResponse } from './observed-facts.ts';

const sent = 'GET / HTTP/1.1\r\nHost: 192.0.2.1\r\nUser-Agent: Portolan/0.1\r\nAccept: */*\r\n\r\n';
const page = (text: string) => `HTTP/1.1 200 OK\r\nServer: x\r\n\r\n<title>debug</title><pre>${text}</pre>`;
const banner: Banner = {
  host: '192.0.2.1',
  port: 80,
  protocol: 'tcp',
  banner: page(sent),
  probe: 'http',
  truncated: false,
  partial: false,
  exchange: [{ sent_b64: Buffer.from(sent).toString('base64'), received_b64: '' }],
};

test('neither rules nor checks read what a page repeats of the request', () => {
  const facts = factsOfResponse(banner, true);
  expect(facts.map(({ field }) => field)).toEqual(['banner', 'http.body']);
  const { page: shown, text } = new CheckResponse(banner, null, 0);
  for (const read of [...facts.flatMap(({ values }) => values.map(String)), shown, text]) {
    expect(read).toMatch(/<title>debug<\/title><pre>/);
    expect(read).not.toMatch(/Portolan|GET/);
  }
});

test('the banner itself stays as it came', () => {
  expect(banner.banner).toContain('User-Agent: Portolan/0.1');
  const { exchange, ...plain } = banner;
  expect(exchange).toHaveLength(1);
  expect(factsOfResponse(plain, false)).toEqual([{ field: 'banner', values: [plain.banner] }]);
});
