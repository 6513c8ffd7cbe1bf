import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Home } from '../cli/command.ts';
import { Listeners } from '../cli/listeners.ts';
import { isInstalled } from '../installed.ts';
import { ServerProcess } from '../program.ts';
import { type HostileSet, hostileGraph, ProcessWatch, writeHostileSet } from './hostile-set.ts';

const address = '127.86.21.1';
const home = new Home();
const listeners = new Listeners();
const endless = /loop|silence/;

describe.skipIf(!isInstalled('gcc'))('a scan whose plugins never end', () => {
  let set: HostileSet;
  let port: number;
  let server: ServerProcess;

  beforeAll(async () => {
    set = await writeHostileSet(home.path, address, home.file('written'));
    port = await listeners.serve((socket) => socket.end('hello\r\n'), address);
    mkdirSync(home.file('.config/portolan/dags'), { recursive: true });
    mkdirSync(home.file('temporary'));
    writeFileSync(home.file('.config/portolan/dags/small.yaml'), hostileGraph);
  });
  afterAll(() => {
    listeners.close();
    home.remove();
  });

  beforeEach(async ({ onTestFinished }) => {
    const args = set.files.filter((file) => endless.test(file)).flatMap((file) => ['--plugin', file]);
    const folders = { XDG_CONFIG_HOME: home.file('.config'), TMPDIR: home.file('temporary') };
    server = new ServerProcess({ args, env: { ...home.env, ...folders } });
    onTestFinished(() => server.dispose());
    await server.start();
  });

  /** Submits a scan and waits until only its plugins are left. */
  async function running(): Promise<{ scanId: string; watch: ProcessWatch }> {
    const watch = new ProcessWatch(server.pid);
    const options = { discover: false };
    const scanId = await server.submit({ targets: [address], ports: [port], dag: 'small', options });
    const isEndless = async () => {
      const { stages } = await server.detail(scanId);
      const busy = stages.filter(({ status }) => status === 'running').map(({ instance_id }) => instance_id);
      return busy.length === 3 && busy.every((name) => endless.test(name));
    };
    await expect.poll(isEndless).toBe(true);
    expect(watch.count).toBeGreaterThan(3);
    return { scanId, watch };
  }

  it('ends when it is canceled, and so do their processes', async () => {
    const { scanId, watch } = await running();
    const { body } = await server.request(`/api/v1/scans/${scanId}/cancel`, { method: 'POST' });
    expect((body as { data: object }).data).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
    await expect.poll(() => watch.leftOf(server)).toEqual({ left: [], waiting: 1 });
    expect((await server.request('/api/v1/health')).status).toBe(200);
    expect(await server.stop()).toBe(0);
    expect(readdirSync(home.file('temporary'))).toEqual([]);
  });

  it('leaves no process when the server is killed', async () => {
    const { watch } = await running();
    await server.stop('SIGKILL');
    await expect.poll(() => watch.left()).toEqual([]);
  });
});
