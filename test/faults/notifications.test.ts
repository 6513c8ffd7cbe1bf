import { afterAll, expect, it } from 'vitest';
import { ServerProcess } from '../program.ts';
import { HttpReceiver } from '../receivers.ts';
import { channelsOf, deliveries, smallScan as submission } from './notified-scan.ts';

const open: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of open.reverse()) await close();
});

it('kill -9 between the end of a scan and its delivery: delivered after the restart', async () => {
  let alive = false;
  const receiver = new HttpReceiver(() => (alive ? { status: 200 } : 'hang'));
  open.push(() => receiver.close());
  const url = await receiver.listen();
  const env = {
    SERVICE_NOTIFICATIONS__WEBHOOKS: JSON.stringify([{ name: 'siem', url, secret: 'hunter2' }]),
    SERVICE_LOG_LEVEL: 'debug',
  };
  const server = new ServerProcess({ env });
  open.push(() => server.dispose());
  await server.start();
  const scanId = await server.submit({ ...submission, notifications: ['webhook://siem'] });
  const ended = await server.waitForEnd(scanId);
  await expect.poll(() => receiver.received.length).toBe(1);
  expect(await channelsOf(server, scanId)).toEqual([
    { channel: 'webhook://siem', status: 'pending', attempts: 0, error: null },
  ]);
  await server.stop('SIGKILL');
  alive = true;
  await server.start();
  await expect
    .poll(() => channelsOf(server, scanId))
    .toEqual([{ channel: 'webhook://siem', status: 'delivered', attempts: 1, error: null }]);
  const later = await server.submit({ ...submission, notifications: ['webhook://siem'] });
  await expect.poll(() => channelsOf(server, later)).toMatchObject([{ status: 'delivered' }]);
  // At least once: the try that the kill cut off reached somebody, and both tries carry one id. When the message of
  // a later scan has come, none of the first one is still to come.
  expect(receiver.received).toHaveLength(3);
  expect(deliveries(receiver)).toEqual([2, 1]);
  expect(await server.detail(scanId)).toMatchObject({ status: ended.status, results: ended.results });
  expect(server.log).not.toContain('hunter2');
  expect(server.log).not.toContain(url);
});
