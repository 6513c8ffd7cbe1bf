import { expect, it } from 'vitest';
import type { AuditRecord } from '../../workspace/audit/audit-reader.ts';
import { auditTable } from './audit-table.ts';

const style = { terminal: true, columns: 100, color: false, ascii: false } as const;
const now = Date.parse('2026-10-06T14:40:00Z');
const called: AuditRecord = {
  timestamp: '2026-10-06T14:30:00.000Z',
  event: 'api_access',
  outcome: 'denied',
  actor: { type: 'token', id: 'k3v9x2', name: 'ci\u001b[31m' },
  tenant: null,
  request: {
    id: 'req_1',
    method: 'POST',
    path: '/api/v1/scans',
    status: 403,
    ip: '192.0.2.7',
    user_agent: 'curl',
    duration_ms: 12,
  },
  resource: { type: 'scan', id: '20261006-143022-a1b2c3' },
  details: {},
};
const changed: AuditRecord = {
  ...called,
  event: 'config_change',
  outcome: 'allowed',
  request: null,
  resource: null,
  details: { operation: 'reload' },
};

it('shows one row for each record', () => {
  expect(auditTable([called, changed], style, now).split('\n')).toEqual([
    'WHEN        EVENT          OUTCOME  ACTOR       ABOUT                        REQUEST',
    '10 min ago  api_access     denied   ci\\x1b[31m  scan:20261006-143022-a1b2c3  POST /api/v1/scans 403',
    '10 min ago  config_change  allowed  ci\\x1b[31m  reload                       –',
    '',
  ]);
});

it('has a column for tenants where a record has one, and bears a log that others modified', () => {
  const odd = { ...called, tenant: 'berlin', actor: {}, resource: { type: 7 } } as unknown as AuditRecord;
  const text = auditTable([odd], { ...style, terminal: false }, now);
  expect(text).toContain('TENANT');
  expect(text).toMatch(/denied +– +berlin +7 +POST/);
});
