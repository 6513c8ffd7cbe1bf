import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openService, type Service } from '../../fixtures/service.ts';

let service: Service;
beforeAll(async () => {
  service = await openService({ 'notifications.default_channels': ['slack://all'] });
  const text =
    'scanner: { rate: 50, timeout: 800ms, ports: { custom: "22,80" } }\nfingerprint: { probe_timeout: 4s }\n';
  const url = '/api/v1/profiles/night';
  expect((await service.app.inject({ method: 'PUT', url, payload: { text } })).statusCode).toBe(200);
});
afterAll(() => service.close());

async function submit(payload: object): Promise<string> {
  const response = await service.app.inject({ method: 'POST', url: '/api/v1/scans', payload });
  expect(response.statusCode, response.body).toBe(201);
  return response.json().data.scan_id;
}

async function requestOf(scanId: string) {
  return (await service.app.inject(`/api/v1/scans/${scanId}/request`)).json().data;
}

/** As stored, without what is of one scan only. */
async function stored(scanId: string) {
  const request = await service.store.scans.request(scanId);
  return { ...request, scan_id: '', created_at: '' };
}

const targets = ['10.0.0.1'];
const full = {
  targets: ['10.0.0.0/28', 'db-1.example.net'],
  exclude: ['10.0.0.3'],
  name: 'office',
  tags: ['a', 'b'],
  profile: 'quick',
  vuln: false,
  ports: '22,8000-8010',
  rate: 77,
  pool: 'dmz',
  notifications: ['slack://night'],
  options: { scan_type: 'connect', retries: 0, timeout: '2s', compliance: ['cis'], exclude_ports: '23' },
};

describe('GET /api/v1/scans/{id}/request', () => {
  it.each([
    ['everything', full, full],
    ['defaults', { targets }, { targets, profile: 'standard', vuln: false }],
    ['a graph', { targets, dag: 'deep' }, { targets, profile: 'standard', dag: 'deep', vuln: true }],
    ['settings of a profile', { targets, profile: 'night' }, { targets, profile: 'night', vuln: false }],
    [
      'what differs from the profile',
      { targets, profile: 'night', rate: 60, options: { timeout: '1s' } },
      { targets, profile: 'night', vuln: false, rate: 60, options: { timeout: '1s' } },
    ],
  ])('starts the same scan once more: %s', async (_, submission, expected) => {
    const first = await submit(submission);
    const request = await requestOf(first);
    expect(request).toEqual(expected);
    expect(await stored(await submit(request))).toEqual(await stored(first));
  });

  it('does not exist for a scan that does not', async () => {
    const response = await service.app.inject('/api/v1/scans/20200101-000000-000000/request');
    expect(response.statusCode).toBe(404);
  });
});

describe('duration_probable of POST /api/v1/scans/plan', () => {
  const plan = async (payload: object) => {
    const response = await service.app.inject({ method: 'POST', url: '/api/v1/scans/plan', payload });
    return response.json().data.duration_probable;
  };

  it('is what the newest completed scan of the same request took', async () => {
    const submission = { ...full, name: 'timed' };
    const scanId = await submit(submission);
    expect(await plan(submission)).toMatchObject({ scan_id: null, basis: expect.stringContaining('up') });
    await service.store.scans.update(scanId, { status: 'running', started_at: '2026-01-01T00:00:00.000Z' });
    await service.store.scans.update(scanId, {
      status: 'completed',
      completed_at: '2026-01-01T00:01:30.000Z',
      results: { live_hosts: 1, open_ports: 0, vulnerabilities: 0 },
    });
    expect(await plan({ ...submission, tags: [] })).toEqual({
      seconds: 90,
      basis: 'as in the last run: 1 host up',
      scan_id: scanId,
    });
    const isComputed = async (other: object) => (await plan(other)).scan_id === null;
    expect(await isComputed({ ...submission, rate: 78 })).toBe(true);
    expect(await isComputed({ ...submission, exclude: [] })).toBe(true);
    expect(await isComputed({ ...submission, options: { ...full.options, retries: 1 } })).toBe(true);
  });
});
