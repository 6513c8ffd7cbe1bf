import { afterEach, expect, it } from 'vitest';
import { HttpReceiver, MailReceiver } from '../../test/receivers.ts';
import type { AlertNotice } from './alert-notice.ts';
import { deliver } from './deliver.ts';
import { maxMessageBytes } from './fitting.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

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

/** Sends to each kind of channel, and gives what arrived. */
async function sent(notice: AlertNotice): Promise<{ slack: string; webhook: string; mail: string }> {
  const [slack, webhook, mail] = [new HttpReceiver(), new HttpReceiver(), new MailReceiver()];
  open.push(slack, webhook, mail);
  const settings = {
    default_channels: [],
    rules: [],
    slack: { webhook_url: await slack.listen(), channel: null },
    email: {
      smtp_server: '127.0.0.1',
      smtp_port: await mail.listen(),
      from: 'scanner@example.org',
      to: [],
      username: null,
      password: null,
      tls: 'auto' as const,
    },
    webhooks: [{ name: 'siem', url: await webhook.listen(), events: [], headers: {}, secret: null }],
  };
  for (const channel of ['slack://sec', 'webhook://siem', 'email://a@b.example'])
    expect(await deliver(settings, { id: 'd-1', channel, notice }, new AbortController().signal)).toEqual({
      status: 'delivered',
      remark: null,
    });
  expect(webhook.received[0]?.headers['x-service-event']).toBe('alert');
  return {
    slack: slack.received[0]?.body ?? '',
    webhook: webhook.received[0]?.body ?? '',
    mail: mail.received[0]?.text.replaceAll('=\r\n', '') ?? '',
  };
}

it('an alert names its state, its message and its values in every kind of message', async () => {
  const { slack, webhook, mail } = await sent(alert);
  expect(JSON.parse(webhook)).toEqual(alert);
  expect(JSON.parse(slack)).toMatchObject({ text: 'Alert queue-backlog firing: Queue is long' });
  expect(slack).toContain('Values: queue_length = 140, error_rate = unknown');
  expect(mail).toMatch(/^Subject: Alert queue-backlog firing: Queue is long/m);
  expect(mail).toContain('Condition: queue_length > 100\r\n');
  expect(mail).toContain('<th align=3D"left">Condition</th><td>queue_length &gt; 100</td>');
});

it('T-024 hostile texts of an alert are neutralized and cut, and it is still delivered', async () => {
  const { slack, webhook, mail } = await sent(hostileAlert);
  for (const message of [slack, webhook, mail])
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(maxMessageBytes);
  expect(slack).not.toMatch(/[<>]|@here/);
  expect(webhook).not.toMatch(/\\r|\\n|\u202e/);
  const head = mail.slice(0, mail.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ');
  expect(head).not.toMatch(/^Bcc/m);
  expect(mail.slice(mail.indexOf('text/html'))).not.toContain('<script');
});
