import { expect, it } from 'vitest';
import type { AuditRecord } from '../../workspace/audit/audit-reader.ts';
import { readFilter } from './audit-filter.ts';

const filter = readFilter({ event: 'changes' }, []);

function takes(method: string, path: string): boolean {
  return filter.takes({ event: 'api_access', request: { method, path }, details: {} } as AuditRecord);
}

it('changes are requests that change something, and what config_change says, without reading the log', () => {
  expect(takes('POST', '/api/v1/scans')).toBe(true);
  expect(takes('DELETE', '/api/v1/jobs/job-1a2b3c4d')).toBe(true);
  const readings = ['/api/v1/scans/plan', '/api/v1/dags/validate', '/api/v1/schedules/preview'];
  expect(readings.map((path) => takes('POST', path))).toEqual([false, false, false]);
  expect(takes('GET', '/api/v1/scans')).toBe(false);
  // An event of its own says it.
  expect(takes('PUT', '/api/v1/dags/mine')).toBe(false);
  const change = (operation: string) =>
    filter.takes({ event: 'config_change', request: null, details: { operation } } as unknown as AuditRecord);
  expect([change('dag.write'), change('audit.read')]).toEqual([true, false]);
});

it('an unknown event names what there is', () => {
  const problems: { field: string; reason: string }[] = [];
  readFilter({ event: 'change' }, problems);
  expect(problems).toMatchObject([{ field: 'event', reason: expect.stringMatching(/user_login, changes$/) }]);
});
