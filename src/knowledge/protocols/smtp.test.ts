import { expect, test } from 'vitest';
import { parseSmtp } from './smtp.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');

test('a server that rejects EHLO and accepts LHLO is LMTP', () => {
  const record = parseSmtp(
    latin1(
      '220 host Dovecot ready.\r\n500 5.5.1 Unknown command\r\n250-host\r\n250-8BITMIME\r\n250 PIPELINING\r\n',
    ),
  );
  expect(record).toMatchObject({ lmtp: true, facts: { extensions: ['8BITMIME', 'PIPELINING'] } });
  expect(parseSmtp(latin1('220 host ESMTP\r\n250-host\r\n250 DSN\r\n'))?.lmtp).toBeUndefined();
});

test('the HELP response is recorded even if it is a rejection', () => {
  const greeted = '220 host ESMTP\r\n250-host\r\n250 DSN\r\n';
  expect(parseSmtp(latin1(`${greeted}214-2.0.0 This is sendmail\r\n214 2.0.0 End\r\n`))?.help).toBe(
    '2.0.0 This is sendmail\n2.0.0 End',
  );
  expect(parseSmtp(latin1(`${greeted}502 5.3.0 no\r\n`))?.help).toBe('5.3.0 no');
  expect(parseSmtp(latin1(greeted))?.help).toBeUndefined();
});
