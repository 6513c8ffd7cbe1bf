import { afterAll, expect, it } from 'vitest';
import { Home } from '../cli/command.ts';
import { InProcessServer } from '../cli/in-process-server.ts';
import { HttpReceiver } from '../receivers.ts';

const open: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of open.reverse()) await close();
});

function newHome(): Home {
  const home = new Home();
  open.push(() => home.remove());
  return home;
}

it('`notification test` sends from here without a server, and says why a message did not arrive', async () => {
  const receiver = new HttpReceiver((index) => ({ status: index === 0 ? 200 : 500 }));
  open.push(() => receiver.close());
  const home = newHome();
  const env = { SERVICE_NOTIFICATIONS__SLACK__WEBHOOK_URL: `${await receiver.listen()}/secret-of-slack` };
  const run = async (...args: string[]) => await home.run(['notification', 'test', ...args], { env });
  const sent = await run('slack://security');
  expect([sent.code, sent.stdout]).toEqual([0, 'slack://security delivered\n']);
  const failed = await run('slack://security', '--format', 'json');
  expect(failed.code).toBe(1);
  const reason = 'HTTP 500';
  expect(JSON.parse(failed.stdout)).toEqual({ channel: 'slack://security', status: 'failed', reason });
  const skipped = await run('email://default');
  expect([skipped.code, skipped.stdout]).toEqual([
    1,
    'email://default skipped: notifications.email.smtp_server is not set\n',
  ]);
  const bad = await run('teams://x');
  expect([bad.code, bad.stdout]).toEqual([2, '']);
  expect(bad.stderr).toContain('unknown channel type');
  expect(receiver.received).toHaveLength(2);
  for (const { stdout, stderr } of [sent, failed, skipped])
    expect(stdout + stderr).not.toContain('secret-of');
});

it('`notification test` goes through the server, with the settings of the server', async () => {
  const receiver = new HttpReceiver();
  open.push(() => receiver.close());
  const url = await receiver.listen();
  const server = new InProcessServer({
    env: { SERVICE_NOTIFICATIONS__WEBHOOKS: JSON.stringify([{ name: 'siem', url }]) },
  });
  open.push(() => server.dispose());
  await server.start();
  const { code, stdout } = await newHome().run([
    'notification',
    'test',
    'webhook://siem',
    '--server',
    server.url,
  ]);
  expect([code, stdout]).toEqual([0, 'webhook://siem delivered\n']);
  expect(receiver.received[0]?.headers['x-service-event']).toBe('test');
});
