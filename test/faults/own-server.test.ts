import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { openService, type Service } from '../../src/server/fixtures/service.ts';
import { Home } from '../cli/command.ts';
import { InProcessServer } from '../cli/in-process-server.ts';

/** The configuration that is shipped, with a place of this test for what lies on the disk. */
const folder = mkdtempSync(join(tmpdir(), 'portolan-shipped-'));
const shipped = join(folder, 'portolan.yaml');
const server = new InProcessServer({
  config: shipped,
  env: { SERVICE_SERVER__API__AUTH: 'false' },
});
const plain = new InProcessServer();
let idle: Service;
const home = new Home();

beforeAll(async () => {
  const { stdout: example } = await home.run(['config', 'init']);
  writeFileSync(shipped, example, { mode: 0o600 });
  const { scope } = loadConfig({ systemFile: shipped, env: {} }).config.scanner;
  // It runs no scan: were one of these targets accepted, still nothing would be sent there.
  idle = await openService({ 'scanner.scope.allow': scope.allow, 'scanner.scope.deny': scope.deny });
  await Promise.all([server.start(), plain.start()]);
});
afterAll(async () => {
  await Promise.all([server.dispose(), plain.dispose(), idle?.close()]);
  home.remove();
  rmSync(folder, { recursive: true, force: true });
});

interface Refusal {
  code: string;
  details: { targets?: { reason: string; hint?: string }[] };
}

/** What no scope can authorise. */
const isMulticast = (target: string) => target === '255.255.255.255' || target === 'ff02::1';

async function rejection(of: InProcessServer, body: Record<string, unknown>) {
  const answer = await of.request('/api/v1/scans', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { error } = answer.body as { error?: Refusal };
  return { status: answer.status, code: error?.code, target: error?.details.targets?.[0] };
}

describe('the shipped configuration', () => {
  it.each([
    '8.8.8.8',
    '2001:4860:4860::8888',
    '169.254.169.254',
    '203.0.113.0/24',
    '255.255.255.255',
    'ff02::1',
  ])('refuses %s and says how to authorise it', async (target) => {
    const answer = await idle.app.inject({
      method: 'POST',
      url: '/api/v1/scans',
      payload: { targets: [target] },
    });
    const { code, details } = answer.json<{ error: Refusal }>().error;
    const [refused] = details.targets ?? [];
    expect([answer.statusCode, code]).toEqual([400, 'invalid_request']);
    if (!isMulticast(target)) {
      expect(refused?.reason).toBe('out_of_scope');
      expect(refused?.hint).toContain('scanner.scope.allow');
    }
  });

  it('refuses its own API, and leaves it out of a larger scan', async () => {
    const port = Number(new URL(server.url).port);
    const own = await rejection(server, { targets: ['127.0.0.1'], ports: [port] });
    expect([own.status, own.code, own.target?.reason]).toEqual([400, 'invalid_request', 'out_of_scope']);
    expect(own.target?.hint).toContain('scanner.scope.protect_self');
    const scanId = await server.submit({
      targets: ['127.0.0.1', '127.0.0.2'],
      ports: `${port},1`,
      dag: 'port-scan',
      options: { discover: false },
    });
    const { status, warnings } = await server.waitForEnd(scanId);
    expect(status).toBe('completed');
    expect(warnings.find(({ code }) => code === 'own_listener_skipped')?.message).toMatch(/^1 attempts/);
    const { body } = await server.request(`/api/v1/scans/${scanId}/results`);
    expect(JSON.stringify(body)).not.toContain(`"port":${port},`);
  });
});

describe('without configuration', () => {
  it.each(['224.0.0.1', 'ff02::1', '255.255.255.255', '0.0.0.0', '::'])('refuses %s', async (target) => {
    const answer = await rejection(plain, { targets: [target] });
    expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
  });

  it('lets a scan have every unicast address, its own API too', async () => {
    const port = Number(new URL(plain.url).port);
    const scanId = await plain.submit({
      targets: ['127.0.0.1'],
      ports: [port],
      dag: 'port-scan',
      options: { discover: false },
    });
    await plain.waitForEnd(scanId);
    const { body } = await plain.request(`/api/v1/scans/${scanId}/results`);
    expect(JSON.stringify(body)).toContain(`"port":${port},`);
  });

  it('accepts an address of elsewhere', async () => {
    // It runs no scan.
    const unlimited = await openService();
    const accepted = await unlimited.submit('elsewhere', { targets: ['192.0.2.1'] });
    await unlimited.close();
    expect(accepted).toMatch(/^\d{8}-/);
  });
});
