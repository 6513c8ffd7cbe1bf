import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../cli/command.ts';
import { ServerProcess } from '../program.ts';

const home = new Home();
const config = home.file('portolan.yaml');
let server: ServerProcess;
let target: Server;
let port = 0;

beforeAll(async () => {
  writeFileSync(config, JSON.stringify({ multi_tenant: { enabled: true, tenants: ['acme', 'globex'] } }));
  target = createServer((socket) => {
    socket.on('error', () => undefined).end('SSH-2.0-OpenSSH_9.2\r\n');
  });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  port = (target.address() as { port: number }).port;
  server = new ServerProcess({ args: ['--config', config] });
  await server.start();
});
afterAll(async () => {
  await server.dispose();
  target.close();
  home.remove();
});

const portolan = (tenant: string | null, ...args: string[]) =>
  home.run([...args, '--config', config, '--workspace-dir', server.workspace], {
    env: tenant === null ? {} : { SERVICE_TENANT_ID: tenant },
  });
const scan = (tenant: string | null) =>
  portolan(tenant, 'scan', '127.0.0.1', '--ports', String(port), '--no-discover', '--format', 'json');

describe('a server with tenants', () => {
  it('runs the scan of a tenant in its folder, from the command line too', async () => {
    const { code, stdout } = await scan('acme');
    expect([code, JSON.parse(stdout).scan_id]).toEqual([0, expect.any(String)]);
    const scanId = JSON.parse(stdout).scan_id;
    expect(existsSync(join(server.workspace, 'tenants/acme/scans', scanId, 'results.jsonl'))).toBe(true);
    expect(readdirSync(join(server.workspace, 'scans'))).toEqual([]);
    const headers = (tenant: string) => ({ headers: { 'x-tenant-id': tenant } });
    const path = `/api/v1/scans/${scanId}`;
    expect((await server.request(path, headers('acme'))).status).toBe(200);
    expect((await server.request(path, headers('globex'))).status).toBe(404);
    expect((await server.request(path)).status).toBe(400);
  });

  it('tells a command line that names no tenant, or one that does not exist', async () => {
    const nameless = await scan(null);
    expect([nameless.code, nameless.stderr]).toEqual([2, expect.stringContaining('X-Tenant-ID')]);
    const unknown = await scan('initech');
    expect([unknown.code, unknown.stderr]).toEqual([5, expect.stringContaining('tenant')]);
  });

  it('gives a tenant its scan back after kill -9', async () => {
    const { body } = await server.request('/api/v1/scans', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tenant-id': 'globex' },
      body: JSON.stringify({
        targets: ['127.0.0.0/24'],
        ports: String(port),
        rate: 50,
        options: { discover: false },
      }),
    });
    const { scan_id: scanId } = (body as { data: { scan_id: string } }).data;
    const detail = async () => {
      const answer = await server.request(`/api/v1/scans/${scanId}`, {
        headers: { 'x-tenant-id': 'globex' },
      });
      return (answer.body as { data: { status: string; progress: { resumes: number } } }).data;
    };
    await expect.poll(async () => (await detail()).status).toBe('running');
    await server.stop('SIGKILL');
    await server.start();
    await expect.poll(async () => (await detail()).status, { interval: 250 }).toBe('completed');
    expect((await detail()).progress.resumes).toBe(1);
  });

  it('leaves its scans to the machine it runs on', async () => {
    await server.stop();
    const listed = JSON.parse((await portolan(null, 'workspace', 'list', '--format', 'json')).stdout);
    expect(listed.scans.length).toBe(2);
    const own = await scan('globex');
    expect(own.code).toBe(0);
    const { scan_id: scanId } = JSON.parse(own.stdout);
    expect(existsSync(join(server.workspace, 'tenants/globex/scans', scanId))).toBe(true);
    const shown = await portolan(null, 'workspace', 'show', scanId, '--show-results');
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining(String(port))]);
    expect((await scan('initech')).code).toBe(5);
  });
});
