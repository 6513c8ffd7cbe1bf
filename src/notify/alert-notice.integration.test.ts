import { expect, it } from 'vitest';
import { deliveredByEach } from '../../test/each-channel.ts';
import type { AlertNotice } from './alert-notice.ts';
import { maxMessageBytes } from './fitting.ts';

const alert: AlertNotice = {
  event: 'alert',
  name: 'queue-backlog',
  state: 'firing',
  condition: 'queue_length > 100',
  values: { queue_length: 140, error_rate: null },
  message: 'Queue is long',
  fired_at: '2026-10-06T14:30:22.000Z',
};
const hostile = '<!channel> @here & <script>"x"</script>\r\nBcc: evil@example.org\u202e';
const hostileAlert = { ...alert, name: hostile, condition: hostile, message: hostile.repeat(30_000) };

it('an alert names its state, its message and its values in every kind of message', async () => {
  const { slack, webhook, mail } = await deliveredByEach(alert);
  expect(JSON.parse(webhook)).toEqual(alert);
  expect(JSON.parse(slack)).toMatchObject({ text: 'Alert queue-backlog firing: Queue is long' });
  expect(slack).toContain('Values: queue_length = 140, error_rate = unknown');
  expect(mail).toMatch(/^Subject: Alert queue-backlog firing: Queue is long/m);
  expect(mail).toContain('Condition: queue_length > 100\r\n');
  expect(mail).toContain('Condition</th><td>queue_length &gt; 100</td>');
});

it('hostile texts of an alert are neutralized and cut, and it is still delivered', async () => {
  const { slack, webhook, mail } = await deliveredByEach(hostileAlert);
  for (const message of [slack, webhook, mail])
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(maxMessageBytes);
  expect(slack).not.toMatch(/[<>]|@here/);
  expect(webhook).not.toMatch(/\\r|\\n|\u202e/);
  const head = mail.slice(0, mail.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ');
  expect(head).not.toMatch(/^Bcc/m);
  expect(mail.slice(mail.indexOf('text/html'))).not.toContain('<script');
});
