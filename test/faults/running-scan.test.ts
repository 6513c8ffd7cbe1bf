import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isFinal } from '../../src/domain/scan.ts';
import { openService, type Service } from '../../src/server/fixtures/service.ts';
import { TargetField } from './target-field.ts';

const entryFile = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const addresses = [1, 2, 3].map((host) => `127.87.0.${host}`);

let field: TargetField;
let service: Service;
beforeAll(async () => {
  field = await TargetField.open(addresses, 400);
  service = await openService({}, { working: true, entryFile });
});
afterAll(async () => {
  await service?.close();
  field?.close();
});

const sweep = (rate: number) =>
  service.submit('sweep', {
    targets: ['127.87.0.1-3'],
    ports: field.ports,
    rate,
    dag: 'port-scan',
    options: { discover: false, retries: 0 },
  });

async function underWay(): Promise<void> {
  const from = performance.now();
  await expect.poll(() => addresses.every((address) => field.since(from, address).length > 10)).toBe(true);
}

/** Waits until so many more contacts have reached an address. */
async function untilReached(address: string, contacts: number): Promise<void> {
  const before = field.since(0, address).length;
  await expect.poll(() => field.since(0, address).length - before).toBeGreaterThanOrEqual(contacts);
}

describe('a scan that runs', () => {
  it('follows a scope that becomes narrower, and none that becomes wider', async () => {
    const scanId = await sweep(150);
    await underWay();
    const rules = (deny: string[], blocklist: string[]) => ({
      scope: { allow: [], deny, protect_self: false },
      blocklist,
    });
    service.workers.narrowScope(rules(['127.87.0.2'], ['127.87.0.3']));
    expect(await field.afterStop('127.87.0.2')).toEqual([]);
    const { length } = field.contacts;
    service.workers.narrowScope(rules([], []));
    await untilReached('127.87.0.1', 60);
    const seen = new Set(field.contacts.slice(length).map(({ pair }) => pair.split(':')[0]));
    expect([...seen]).toEqual(['127.87.0.1']);
    const scan = await service.until(scanId, ({ status }) => isFinal(status));
    expect(scan.status).toBe('completed');
    const narrowings = scan.warnings.filter(({ code }) => code === 'scope_narrowed');
    expect(narrowings.map(({ message }) => message)).toEqual([
      expect.stringContaining('excluded 2 addresses while'),
    ]);
  });

  it('can be deleted, twice, while garbage is collected: silent within a second, nothing left', async () => {
    const scanId = await sweep(200);
    await underWay();
    const url = `/api/v1/scans/${scanId}`;
    const gc = () =>
      service.app.inject({ method: 'POST', url: '/api/v1/workspace/gc', payload: { older_than: '1s' } });
    const remove = () => service.app.inject({ method: 'DELETE', url });
    const [first, collected, second] = await Promise.all([remove(), gc(), remove()]);
    expect([first.statusCode, second.statusCode].sort()).toEqual([200, 404]);
    expect(collected.statusCode).toBe(200);
    expect(await field.afterStop()).toEqual([]);
    expect(field.open).toBe(0);
    expect((await service.app.inject({ url })).statusCode).toBe(404);
    expect(await service.workspace.scan(scanId).exists()).toBe(false);
    expect(service.workers.counts().active).toBe(0);
  });

  it('ends a download cleanly when it is deleted in the middle', async () => {
    const base = await service.listen();
    const scanId = await sweep(200);
    await underWay();
    const answer = await fetch(`${base}/api/v1/scans/${scanId}/results?format=jsonl`);
    const [text, removed] = await Promise.all([
      answer.text(),
      fetch(`${base}/api/v1/scans/${scanId}`, { method: 'DELETE' }),
    ]);
    expect([answer.status, removed.status]).toEqual([200, 200]);
    for (const line of text.trim().split('\n')) JSON.parse(line);
    expect(await service.workspace.scan(scanId).exists()).toBe(false);
  });
});
