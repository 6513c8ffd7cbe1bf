import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Behavior, HttpReceiver } from '../../../../test/receivers.ts';
import { auditFiles } from '../../../workspace/audit/audit-files.ts';
import { openService, type Service } from '../../fixtures/service.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function http(behavior?: Behavior) {
  const receiver = new HttpReceiver(behavior);
  open.push(receiver);
  return { receiver, url: await receiver.listen() };
}

async function start(flags: Record<string, unknown> = {}): Promise<Service> {
  const service = await openService(flags);
  open.push(service);
  return service;
}

async function test(service: Service, payload: object, headers: Record<string, string> = {}) {
  const response = await service.app.inject({
    method: 'POST',
    url: '/api/v1/notifications/test',
    payload,
    headers,
  });
  return { status: response.statusCode, body: response.json(), text: response.body };
}

describe('POST /notifications/test', () => {
  it('sends one signed message, whatever the webhook is subscribed to and rules say', async () => {
    const { receiver, url } = await http();
    const webhooks = [{ name: 'siem', url, secret: 'hunter2', events: ['scan.failed'] }];
    const rules = [{ channels: ['webhook://siem'], events: ['alert'] }];
    const service = await start({
      'notifications.webhooks': JSON.stringify(webhooks),
      'notifications.rules': JSON.stringify(rules),
    });
    const { status, body } = await test(service, { channel: 'webhook://siem' });
    expect([status, body.data]).toEqual([
      200,
      { channel: 'webhook://siem', status: 'delivered', reason: null },
    ]);
    expect(receiver.received).toHaveLength(1);
    const [first] = receiver.received;
    const headers = first?.headers ?? {};
    expect(headers['x-service-event']).toBe('test');
    expect(headers['x-service-signature-v2']).toMatch(/^sha256=[0-9a-f]{64}$/);
    expect(JSON.parse(first?.body ?? '')).toEqual({
      event: 'test',
      message: 'Test message: this channel works.',
      sent_at: expect.stringMatching(/Z$/),
    });
  });

  it('says why a message did not arrive, after one try, without a secret', async () => {
    const { receiver, url } = await http(() => ({ status: 503 }));
    const service = await start({
      'notifications.slack.webhook_url': `${url}/services/secret-of-slack`,
    });
    const failed = await test(service, { channel: 'slack://x' });
    expect([failed.status, failed.body.data]).toEqual([
      200,
      { channel: 'slack://x', status: 'failed', reason: 'HTTP 503' },
    ]);
    expect(failed.text).not.toMatch(/secret-of-slack|127\.0\.0\.1/);
    expect(receiver.received).toHaveLength(1);
    expect((await test(service, { channel: 'email://default' })).body.data).toEqual({
      channel: 'email://default',
      status: 'skipped',
      reason: 'notifications.email.smtp_server is not set',
    });
    expect((await test(service, { channel: 'webhook://none' })).body.data).toMatchObject({
      status: 'skipped',
      reason: 'no webhook of this name in notifications.webhooks',
    });
  });

  it.each([
    {},
    { channel: 'teams://x' },
    { channel: 'slack' },
    { channel: 'slack://a\r\nb' },
    { channel: 7 },
  ])('refuses %j', async (payload) => {
    const service = await start();
    const { status, body } = await test(service, payload);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  });

  it('needs the scope admin, counts against the rate, and is in the audit log', async () => {
    const service = await start({
      'server.api.auth': true,
      'server.api.rate_limit': 2,
      'logging.audit.enabled': true,
    });
    const call = async (scope: string) =>
      await test(
        service,
        { channel: 'slack://x' },
        { authorization: `Bearer ${await service.token(scope)}` },
      );
    const refused = await call('scan:write');
    expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope']);
    const authorization = `Bearer ${await service.token('admin')}`;
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++)
      statuses.push((await test(service, { channel: 'slack://x' }, { authorization })).status);
    expect(statuses).toEqual([200, 200, 429]);
    const [file = ''] = auditFiles({ folder: join(service.workspace.dir, 'audit'), file: null });
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    const found = lines
      .map((line) => JSON.parse(line) as { outcome: string; request: { status: number } })
      .map(({ outcome, request }) => `${outcome} ${request.status}`);
    expect(found).toEqual(['denied 403', 'allowed 200', 'allowed 200', 'denied 429']);
  });
});
