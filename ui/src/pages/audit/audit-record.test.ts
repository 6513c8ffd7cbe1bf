import { expect, it } from 'vitest';
import { startOf } from './audit-period.ts';
import { actionText, actorText, detailText, readRecord, resourceText } from './audit-record.ts';

const record = readRecord({
  timestamp: '2026-11-21T14:23:10.000Z',
  event: 'api_access',
  outcome: 'denied',
  actor: { type: 'token', id: 'abc123', name: 'ci' },
  request: { method: 'POST', path: '/api/v1/scans', status: 403 },
  resource: { type: 'scan', id: null },
  details: {},
});

it('says who did what about what', () => {
  expect([actorText(record), actionText(record), resourceText(record)]).toEqual([
    'ci',
    'POST /api/v1/scans',
    'scan',
  ]);
});

it('prefers the name of an operation', () => {
  expect(actionText(readRecord({ ...record, details: { operation: 'token.create' } }))).toBe('token.create');
});

it('reads records with nothing in them', () => {
  const empty = readRecord({ actor: 'x', request: [], details: null });
  expect([actorText(empty), actionText(empty), resourceText(empty), empty.request]).toEqual([
    'unknown',
    '',
    '',
    null,
  ]);
});

it('writes details', () => {
  expect([detailText(['a', 1]), detailText({ a: null }), detailText(false)]).toEqual([
    'a, 1',
    '{"a":null}',
    'false',
  ]);
});

it('a period begins before now; a date stays', () => {
  const now = Date.parse('2026-11-21T14:00:00Z');
  expect(startOf('24h', now)).toBe('2026-11-20T14:00:00.000Z');
  expect([startOf('', now), startOf('2026-10-01', now), startOf('toString', now)]).toEqual([
    '',
    '2026-10-01',
    'toString',
  ]);
});
