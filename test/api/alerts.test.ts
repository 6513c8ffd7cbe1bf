import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServerProcess } from '../program.ts';
import { HttpReceiver, MailReceiver } from '../receivers.ts';

const webhook = new HttpReceiver();
const slack = new HttpReceiver();
/** Takes every message and never responds. */
const hanging = new HttpReceiver(() => 'hang');
const mail = new MailReceiver();
let server: ServerProcess;
let rules: string;

const idle = 'name: idle, condition: queue_length == 0 and not (workers_alive < 1)';
const hostile = '"<!channel> @here <b>x</b>\\r\\nBcc: all@example.com"';
const firing = `- {${idle}, action: "slack, email, webhook:stuck, webhook:ops", message: ${hostile}}\n`;

beforeAll(async () => {
  const [hook, chat, stuck] = await Promise.all([webhook.listen(), slack.listen(), hanging.listen()]);
  const port = await mail.listen();
  const dir = mkdtempSync(join(tmpdir(), 'portolan-alert-rules-'));
  rules = join(dir, 'rules.yaml');
  writeFileSync(rules, firing);
  server = new ServerProcess({
    env: {
      SERVICE_ALERTS: rules,
      SERVICE_ALERTS__INTERVAL: '1s',
      SERVICE_NOTIFICATIONS__WEBHOOKS: JSON.stringify([
        { name: 'ops', url: hook, secret: 's3cret' },
        { name: 'stuck', url: stuck },
      ]),
      SERVICE_NOTIFICATIONS__SLACK__WEBHOOK_URL: chat,
      SERVICE_NOTIFICATIONS__SLACK__CHANNEL: '#security',
      SERVICE_NOTIFICATIONS__EMAIL__SMTP_SERVER: '127.0.0.1',
      SERVICE_NOTIFICATIONS__EMAIL__SMTP_PORT: String(port),
      SERVICE_NOTIFICATIONS__EMAIL__FROM: 'scanner@example.com',
      SERVICE_NOTIFICATIONS__EMAIL__TO: 'ops@example.com',
    },
  });
  await server.start();
});

afterAll(async () => {
  await server?.dispose();
  await Promise.all([webhook.close(), slack.close(), hanging.close(), mail.close()]);
  rmSync(dirname(rules), { recursive: true, force: true });
});

const events = () => webhook.received.map(({ body }) => JSON.parse(body) as { name: string; state: string });

/** Polls until so many webhook messages have come. */
async function until(count: number): Promise<void> {
  await expect.poll(() => webhook.received.length, { interval: 50 }).toBeGreaterThanOrEqual(count);
}

/** Resolves when the server has evaluated the rules once more: a rule that it did not know has a state then. */
async function evaluated(): Promise<void> {
  const name = `probe-${Math.random().toString(36).slice(2)}`;
  writeFileSync(rules, `${firing}- {name: ${name}, condition: queue_length < 0, action: slack}\n`);
  process.kill(server.pid, 'SIGHUP');
  const since = async () => {
    const { body } = await server.request('/api/v1/alerts');
    const { alerts } = (body as { data: { alerts: { name: string; since: string | null }[] } }).data;
    return alerts.find((alert) => alert.name === name)?.since ?? null;
  };
  while ((await since()) === null) await sleep(100);
}

describe('the alerts of a server', () => {
  it('arrive at every channel although one hangs, neutralized and signed', async () => {
    await until(1);
    const [message] = webhook.received;
    expect(JSON.parse(message?.body ?? '')).toEqual({
      event: 'alert',
      name: 'idle',
      state: 'firing',
      condition: 'queue_length == 0 and not (workers_alive < 1)',
      values: { queue_length: 0, workers_alive: expect.any(Number) },
      message: expect.stringContaining('<!channel> @here'),
      fired_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    expect(message?.headers).toMatchObject({
      'x-service-event': 'alert',
      'x-service-signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
    });
    await expect.poll(() => [slack.received.length, mail.received.length]).toEqual([1, 1]);
    const chat = JSON.parse(slack.received[0]?.body ?? '') as { channel: string };
    expect(chat.channel).toBe('#security');
    expect(JSON.stringify(chat)).not.toMatch(/<!channel>|@here/);
    expect(mail.received[0]?.to).toEqual(['ops@example.com']);
    expect(mail.received[0]?.text.split('\r\n\r\n')[0]).not.toMatch(/^Bcc:/im);
  });

  it('come once, however the server ends and starts again', async () => {
    // A message that has arrived, but is not recorded as delivered, would be sent again: to Slack, mail and a webhook.
    await expect.poll(() => server.log.match(/notification delivered/g)).toHaveLength(3);
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await server.stop(signal);
      await server.start();
      await evaluated();
    }
    expect(events().map(({ state }) => state)).toEqual(['firing']);
    expect([slack.received.length, mail.received.length]).toEqual([1, 1]);
  });

  it('keep their rules when a reload brings bad ones, and start anew with an edited condition', async () => {
    writeFileSync(rules, '- {name: bad, condition: queue_length >, action: slack}\n');
    process.kill(server.pid, 'SIGHUP');
    const degraded = async () => {
      const { body } = await server.request('/api/v1/health');
      return (body as { checks: { name: string }[] }).checks.some(({ name }) => name === 'alerts');
    };
    await expect.poll(degraded).toBe(true);
    await expect
      .poll(() => server.log)
      .toContain(`${rules}:1:40: condition: unexpected end of the condition`);
    writeFileSync(rules, firing.replace('name: idle', 'name: edited'));
    process.kill(server.pid, 'SIGHUP');
    await until(2);
    expect(await degraded()).toBe(false);
    await expect.poll(() => server.log).toMatch(/configuration reloaded.*alerts\.file/);
    expect(events()).toMatchObject([{ state: 'firing' }, { name: 'edited', state: 'firing' }]);
  });
});
