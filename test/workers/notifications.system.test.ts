import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresObstacle, runStatements, storeDatabase } from '../postgres.ts';
import type { ServerProcess } from '../program.ts';
import { HttpReceiver } from '../receivers.ts';
import { Lab, sweep, until } from './cluster.ts';

const address = '127.86.24.1';

describe.skipIf(postgresObstacle() !== null)('notifications of two servers', () => {
  /** What it does with messages; `hang`: no response. */
  let isAlive = false;
  const receiver = new HttpReceiver(() => (isAlive ? { status: 200 } : 'hang'));
  let lab: Lab;
  let url: string;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    const hook = await receiver.listen();
    lab = await Lab.open([address], 1);
    url = await storeDatabase();
    env = {
      SERVICE_QUEUE__URL: url,
      SERVICE_NOTIFICATIONS__WEBHOOKS: JSON.stringify([{ name: 'ops', url: hook }]),
    };
  });
  afterAll(async () => {
    await lab?.dispose();
    await receiver.close();
  });

  const stateOf = async (server: ServerProcess, scanId: string) =>
    ((await server.detail(scanId)) as unknown as { notifications: object[] }).notifications;
  const deliveries = () => receiver.received.map(({ headers }) => headers['x-service-delivery']);

  it('that one was sending when it was killed are sent by the other one', async () => {
    const home = await lab.server(env);
    const more = { pool: 'default', notifications: ['webhook://ops'] };
    const scanId = await sweep(home, lab.field, [address], 1000, more);
    await home.waitForEnd(scanId);
    await until('an attempt', () => receiver.received.length === 1);
    await home.stop('SIGKILL');
    isAlive = true;
    // Before, it might have been the one that sends.
    const other = await lab.server(env);
    expect(await stateOf(other, scanId)).toEqual([
      { channel: 'webhook://ops', status: 'pending', attempts: 0, error: null },
    ]);
    // Its last heartbeat ages at once, so that the test need not wait until it has.
    await runStatements(url, [
      "update portolan_queue.job set heartbeat_on = heartbeat_on - interval '15 seconds' where state = 'active'",
    ]);
    await until('its delivery', async () =>
      JSON.stringify(await stateOf(other, scanId)).includes('delivered'),
    );
    expect(await stateOf(other, scanId)).toEqual([
      { channel: 'webhook://ops', status: 'delivered', attempts: 1, error: null },
    ]);
    const [first, ...others] = deliveries();
    expect(others).toEqual([first]);
  });
});
