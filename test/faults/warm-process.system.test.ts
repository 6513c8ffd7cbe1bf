import { afterEach, beforeEach, expect, it } from 'vitest';
import { isAlive, ServerProcess } from '../program.ts';

let server: ServerProcess;
beforeEach(async () => {
  server = new ServerProcess();
  await server.start();
});
afterEach(() => server.dispose());

const tiny = { targets: ['127.0.0.1'], ports: '9', profile: 'quick', options: { discover: false } };
const patience = { timeout: 20_000 };

async function scan(): Promise<void> {
  const { status } = await server.waitForEnd(await server.submit(tiny));
  expect(status).toBe('completed');
}

it('a process waits for the first scan, and runs it and the next ones', async () => {
  await expect.poll(() => server.scanProcesses().length, patience).toBe(1);
  const waiting = server.scanProcesses();
  for (let i = 0; i < 3; i++) await scan();
  expect(server.scanProcesses()).toEqual(waiting);
});

it('a stop ends the process that waits', async () => {
  await scan();
  const waiting = server.scanProcesses();
  expect(waiting.length).toBe(1);
  expect(await server.stop()).toBe(0);
  expect(waiting.filter(isAlive)).toEqual([]);
});

it('no process outlives a kill -9 of the server', async () => {
  await scan();
  const waiting = server.scanProcesses();
  expect(waiting.length).toBe(1);
  await server.stop('SIGKILL');
  await expect.poll(() => waiting.filter(isAlive), patience).toEqual([]);
});

it('kill -9 of the process that waits costs no scan', async () => {
  await scan();
  const [waiting = 0] = server.scanProcesses();
  process.kill(waiting, 'SIGKILL');
  await scan();
  expect(server.scanProcesses()).not.toContain(waiting);
});
