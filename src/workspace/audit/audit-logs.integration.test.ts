import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkAuditLog } from './audit-check.ts';
import { auditFiles } from './audit-files.ts';
import { AuditLogs, auditFolder, tenantsWithLog } from './audit-logs.ts';
import type { AuditEvent } from './audit-record.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-audit-logs-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const event = (tenant: string | null, n: number): AuditEvent => ({
  event: 'api_access',
  outcome: 'allowed',
  actor: { type: 'system', id: null, name: null },
  tenant,
  request: null,
  resource: null,
  details: { n },
});

function open(settings: { enabled: boolean; file: string; events: ['api_access'] }, faults: string[] = []) {
  const onFault = (message: string) => faults.push(message);
  const tenants = ['acme', 'globex'];
  return new AuditLogs({
    workspaceDir: dir,
    tenants,
    settings: Object.assign(settings, { reads: false }),
    onFault,
    onRecovery: onFault,
    onGap: onFault,
  });
}

async function numbers(files: string[]): Promise<unknown[]> {
  expect(await checkAuditLog(files)).toMatchObject({ ok: true, complete: true });
  const lines = files.flatMap((file) => readFileSync(file, 'utf8').trimEnd().split('\n'));
  return lines.map((line) => JSON.parse(line).details.n);
}

const ofTenant = (tenant: string | null) =>
  numbers(auditFiles({ folder: auditFolder(dir, tenant), file: null }));

it('each tenant has a log and a chain of its own; a tenant that is not served has none', async () => {
  const logs = open({ enabled: true, file: '', events: ['api_access'] });
  const owners = [null, 'acme', 'globex', 'acme', 'initech', null];
  for (const [n, tenant] of owners.entries()) await logs.record(event(tenant, n));
  await logs.close();
  expect(await ofTenant(null)).toEqual([0, 4, 5]);
  expect(await ofTenant('acme')).toEqual([1, 3]);
  expect(await ofTenant('globex')).toEqual([2]);
  expect(await tenantsWithLog(dir)).toEqual(['acme', 'globex']);
});

it('one named file takes them all, also when a reload names it', async () => {
  const settings = { enabled: true, file: '', events: ['api_access'] as ['api_access'] };
  const logs = open(settings);
  await logs.record(event('acme', 0));
  settings.file = join(dir, 'audit.jsonl');
  await logs.record(event('acme', 1));
  await logs.record(event(null, 2));
  settings.file = '';
  await logs.record(event('acme', 3));
  await logs.close();
  expect(await numbers([settings.file || join(dir, 'audit.jsonl')])).toEqual([1, 2]);
  expect(await ofTenant('acme')).toEqual([0, 3]);
});

it('tells of a fault in any of them', async () => {
  const logs = open({ enabled: true, file: '', events: ['api_access'] });
  await logs.record(event('acme', 0));
  expect(logs.fault).toBeNull();
  await rm(dir, { recursive: true });
  writeFileSync(dir, 'no folder');
  await logs.record(event('globex', 1));
  expect(logs.fault).toMatch(/^cannot write the audit log: /);
  await logs.close();
});
