import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, it } from 'vitest';
import { Home } from '../cli/command.ts';
import { ServerProcess } from '../program.ts';
import { type Behavior, HttpReceiver, MailReceiver } from '../receivers.ts';
import { type Channel, channelsOf, smallScan as submission } from './notified-scan.ts';

// The tests run side by side, for most of their time is the documented one between two tries.
const open: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of open.reverse()) await close();
});

async function http(behaviour?: Behavior) {
  const receiver = new HttpReceiver(behaviour);
  open.push(() => receiver.close());
  return { receiver, url: await receiver.listen() };
}

describe.concurrent('notifications of the whole program', () => {
  it('a refusing receiver: three tries, visible, nothing else changes; bad and unknown channels are refused', async ({
    expect,
  }) => {
    const { receiver, url } = await http(() => ({ status: 302, headers: { location: '/elsewhere' } }));
    const server = new ServerProcess({
      env: { SERVICE_NOTIFICATIONS__SLACK__WEBHOOK_URL: `${url}/services/T0/B0/secret-of-slack` },
    });
    open.push(() => server.dispose());
    await server.start();
    expect(server.log).toContain('notifications.slack.webhook_url');
    const scanId = await server.submit({
      ...submission,
      notifications: ['slack://security', 'email://default'],
    });
    for (const channel of ['slack', 'teams://x', 'slack://', `slack://${'x'.repeat(1000)}`]) {
      const { status, body } = await server.request('/api/v1/scans', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...submission, notifications: [channel] }),
      });
      expect([status, (body as { error: { code: string } }).error.code]).toEqual([400, 'invalid_request']);
    }
    expect((await server.waitForEnd(scanId)).status).toBe('completed');
    await expect
      .poll(() => channelsOf(server, scanId))
      .toEqual([
        {
          channel: 'slack://security',
          status: 'failed',
          attempts: 3,
          error: 'HTTP 302: redirects are not followed',
        },
        {
          channel: 'email://default',
          status: 'skipped',
          attempts: 0,
          error: 'notifications.email.smtp_server is not set',
        },
      ]);
    const [first = 0, second = 0, third = 0] = receiver.received.map(({ at }) => at);
    // The receiver notes a try before it answers, and the delay begins with the answer: no machine is too slow for that.
    expect(second - first).toBeGreaterThanOrEqual(1950);
    expect(third - second).toBeGreaterThanOrEqual(7950);
    expect(receiver.received).toHaveLength(3);
    const health = (await server.request('/api/v1/health')).body as {
      status: string;
      checks: { name: string }[];
    };
    expect([health.status, health.checks.map(({ name }) => name)]).toEqual([
      'degraded',
      expect.arrayContaining(['notifications']),
    ]);
    expect(server.log).not.toContain('secret-of-slack');
  });

  it('a reload gives new receivers, and a clean health', async ({ expect }) => {
    const old = await http(() => ({ status: 500 }));
    const next = await http();
    const home = new Home();
    open.push(() => home.remove());
    const file = home.file('portolan.yaml');
    const use = (url: string) =>
      writeFileSync(
        file,
        `notifications: {default_channels: ["webhook://siem"], webhooks: [{name: siem, url: "${url}"}]}\n`,
        { mode: 0o600 },
      );
    use(old.url);
    const server = new ServerProcess({ args: ['--config', file] });
    open.push(() => server.dispose());
    await server.start();
    const first = await server.submit(submission);
    await expect.poll(async () => (await channelsOf(server, first))[0]?.status).toBe('failed');
    const failing = async () =>
      ((await server.request('/api/v1/health')).body as { checks: { name: string }[] }).checks.some(
        ({ name }) => name === 'notifications',
      );
    expect(await failing()).toBe(true);
    use(next.url);
    process.kill(server.pid, 'SIGHUP');
    await expect.poll(failing).toBe(false);
    const second = await server.submit(submission);
    await expect.poll(async () => (await channelsOf(server, second))[0]?.status).toBe('delivered');
    expect([old.receiver.received.length, next.receiver.received.length]).toEqual([3, 1]);
  });
});

describe.concurrent('notifications of a scan without a server', () => {
  async function scan(args: string[], env: NodeJS.ProcessEnv) {
    const home = new Home();
    open.push(() => home.remove());
    const ended = await home.run(['scan', '127.0.0.1', '--ports', '9', '--no-discover', ...args], { env });
    return { home, ended };
  }

  it('are sent from the command line, with and without a workspace', async ({ expect }) => {
    const mail = new MailReceiver();
    open.push(() => mail.close());
    const env = {
      SERVICE_NOTIFICATIONS__EMAIL__SMTP_SERVER: '127.0.0.1',
      SERVICE_NOTIFICATIONS__EMAIL__SMTP_PORT: String(await mail.listen()),
      SERVICE_NOTIFICATIONS__EMAIL__FROM: 'scanner@example.org',
    };
    const notify = ['--notify', 'email://a@example.org,slack://x'];
    for (const place of [[], ['--no-workspace']]) {
      const { ended, home } = await scan([...notify, ...place], env);
      expect(ended.code).toBe(0);
      expect(ended.stderr).toContain(
        'warning: notification to slack://x skipped: notifications.slack.webhook_url is not set',
      );
      expect(ended.stderr).not.toContain('email://');
      if (place.length > 0) continue;
      const shown = await home.run(['workspace', 'list', '--format', 'json']);
      const [{ scan_id: scanId } = { scan_id: '' }] = (
        JSON.parse(shown.stdout) as { scans: { scan_id: string }[] }
      ).scans;
      const folder = home.file(`.local/share/portolan/scans/${scanId}`);
      const status = JSON.parse(readFileSync(join(folder, 'status.json'), 'utf8')) as {
        notifications: Channel[];
      };
      expect(status.notifications.map(({ status: one }) => one)).toEqual(['delivered', 'skipped']);
    }
    expect(mail.received.map(({ to }) => to)).toEqual([['a@example.org'], ['a@example.org']]);
  });

  it('that fail change neither the result nor the exit code', async ({ expect }) => {
    const { receiver, url } = await http(() => ({ status: 500 }));
    const env = { SERVICE_NOTIFICATIONS__SLACK__WEBHOOK_URL: url };
    const { ended } = await scan(['--notify', 'slack://x', '--format', 'json'], env);
    expect(ended.code).toBe(0);
    expect(() => JSON.parse(ended.stdout) as unknown).not.toThrow();
    expect(ended.stderr).toContain('warning: notification to slack://x failed: HTTP 500');
    expect(receiver.received).toHaveLength(3);
  });
});
