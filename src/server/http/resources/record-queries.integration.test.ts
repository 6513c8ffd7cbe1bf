import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { finding, host, port, summary } from '../../../../test/result-rows.ts';
import type { Finding } from '../../../domain/finding.ts';
import type { HostRow, PortRow, ResultRow, VulnerabilityRow } from '../../../domain/result.ts';
import { openRecord } from '../../../workspace/record/record-writer.ts';
import { openService, type Service } from '../../fixtures/service.ts';

let service: Service;
let scanId = '';

function found(address: string, at: number | null, more: Partial<Finding>): VulnerabilityRow {
  const row = finding(at, 'id');
  return { ...row, host: address, vulnerability: { ...row.vulnerability, ...more } };
}

const service_ = (product: string, version: string) => ({
  name: 'http',
  product,
  vendor: null,
  version,
  cpe: null,
  confidence: 1,
});
const hosts: HostRow[] = [
  { ...host, host: '10.0.0.1', hostnames: ['web-1.example.com'], latency_ms: 3 },
  { ...host, host: '10.0.0.2', latency_ms: 1 },
  { ...host, host: '10.0.0.10', latency_ms: null },
];
const ports: PortRow[] = [
  port(80, { host: '10.0.0.1', service: service_('nginx', '1.9.0'), banner: 'Server: nginx' }),
  port(443, { host: '10.0.0.1', service: service_('nginx', '1.10.0') }),
  port(22, { host: '10.0.0.2' }),
  port(443, { host: '10.0.0.2', service: service_('Apache httpd', '2.4.49') }),
];
const findings = [
  found('10.0.0.1', 443, { id: 'CVE-2024-1', severity: 'high', kev: true }),
  found('10.0.0.2', 443, { id: 'CVE-2024-2', severity: 'low', kev: false, cvss: null }),
  found('10.0.0.2', null, { id: 'weak-name', severity: 'critical', kev: false }),
];
const error: ResultRow = {
  type: 'error',
  timestamp: summary.timestamp,
  host: null,
  target: 'nowhere.example',
  code: 'resolve_failed',
  message: 'nowhere.example does not resolve',
  node: null,
};

beforeAll(async () => {
  service = await openService();
  scanId = await service.submit('queries');
  const record = await openRecord(service.workspace.scan(scanId));
  for (const row of [...hosts, ...ports, ...findings, error]) await record.append(row);
  await record.finish({ ...summary, scan_id: scanId });
});
afterAll(() => service.close());

async function get(path: string, id = scanId, headers: Record<string, string> = {}) {
  const url = `/api/v1/scans/${id}/${path}`.replace(/(q|host)=([^&]*)/g, (_, name: string, value: string) => {
    return `${name}=${encodeURIComponent(value)}`;
  });
  const response = await service.app.inject({ url, headers });
  return { status: response.statusCode, headers: response.headers, body: response.json() };
}

const data = async (path: string) => {
  const { status, body } = await get(path);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data;
};
const placeOf = ({ host: address, port: at, vulnerability }: VulnerabilityRow) =>
  [address, at, vulnerability?.id].filter((part) => part !== undefined && part !== null).join(' ');
const places = async (path: string): Promise<string[]> => (await data(path)).records.map(placeOf);

describe('GET /scans/{id}/records with a query', () => {
  it('is the list without an index if it has no type, query and order', async () => {
    const { records, matches } = await data('records');
    expect(matches).toBeUndefined();
    expect(records[0]).toMatchObject({ type: 'error' });
    const all = await data('records?q=');
    expect(all.records.map(placeOf)).toEqual(records.map(placeOf));
    expect(all.matches).toEqual({ hosts: 3, ports: 4, findings: 3 });
    expect(records.find(({ type }: ResultRow) => type === 'host')).not.toHaveProperty('totals');
  });

  it('takes records of tuples that satisfy the whole query', async () => {
    const query = 'q=port:443 severity:>=high';
    expect(await places(`records?${query}`)).toEqual(['10.0.0.1', '10.0.0.1 443', '10.0.0.1 443 CVE-2024-1']);
    expect(await places(`records?type=host&${query}`)).toEqual(['10.0.0.1']);
    expect(await places('records?type=host&q=severity:critical')).toEqual(['10.0.0.2']);
    expect(await places('records?type=host&q=port:none')).toEqual(['10.0.0.2', '10.0.0.10']);
    expect(await places('records?type=error&q=resolve')).toEqual(['']);
    expect((await data(`records?${query}`)).matches).toEqual({ hosts: 1, ports: 1, findings: 1 });
    expect(await places('records?type=port&q=product:nginx version:<1.10')).toEqual(['10.0.0.1 80']);
    expect(await places('records?type=port&q="server: NGINX"')).toEqual(['10.0.0.1 80']);
  });

  it('adds totals to hosts and ports, and what matches to hosts of a query', async () => {
    const { records } = await data('records?type=host&q=port:443');
    expect(records[1]).toMatchObject({
      host: '10.0.0.2',
      totals: {
        open_ports: 2,
        services: [
          { port: 22, protocol: 'tcp' },
          { port: 443, protocol: 'tcp', service: 'http' },
        ],
        severity_counts: { critical: 1, high: 0, medium: 0, low: 1, info: 0 },
      },
      matching: { ports: 1, findings: 1 },
    });
    const [listed] = (await data('records?type=port&sort=-findings')).records;
    expect(listed).toMatchObject({ host: '10.0.0.1', port: 443, totals: { severity_counts: { high: 1 } } });
    expect((await data('records?type=host')).records[0]).not.toHaveProperty('matching');
  });

  it('sorts', async () => {
    expect(await places('records?type=host&sort=-address')).toEqual(['10.0.0.10', '10.0.0.2', '10.0.0.1']);
    expect(await places('records?type=host&sort=latency')).toEqual(['10.0.0.2', '10.0.0.1', '10.0.0.10']);
    expect(await places('records?type=host&sort=-latency')).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.10']);
    expect(await places('records?type=port&sort=-version')).toEqual([
      '10.0.0.2 443',
      '10.0.0.1 443',
      '10.0.0.1 80',
      '10.0.0.2 22',
    ]);
    expect(await places('records?type=vulnerability&sort=-severity')).toEqual([
      '10.0.0.2 weak-name',
      '10.0.0.1 443 CVE-2024-1',
      '10.0.0.2 443 CVE-2024-2',
    ]);
  });

  it('comes in pages by offset and by cursor', async () => {
    expect(await places('records?type=port&sort=-port&limit=1&offset=2')).toEqual(['10.0.0.1 80']);
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const { records, next_cursor, total } = await data(`records?type=port&limit=3${cursor}`);
      seen.push(...records.map(placeOf));
      expect(total).toBe(4);
      if (next_cursor === null) break;
      cursor = `&cursor=${next_cursor}`;
    }
    expect(seen).toEqual(['10.0.0.1 80', '10.0.0.1 443', '10.0.0.2 22', '10.0.0.2 443']);
    const { next_cursor } = await data('records?type=port&limit=3');
    const other = await get(`records?type=host&limit=3&cursor=${next_cursor}`);
    expect([other.status, other.body.error.details.fields[0].field]).toEqual([400, 'cursor']);
    const { headers } = await get('records?type=port&limit=3&q=port:443 or port:80');
    expect(headers['link']).toContain('q=port%3A443+or+port%3A80');
  });

  it.each([
    ['q=port:99999', 'q', 'column 6: '],
    ['q=bogus:1', 'q', 'column 1: unknown field `bogus`'],
    ['q=(port:1', 'q', 'column 1: '],
    [`q=${'a'.repeat(3000)}`, 'q', 'column 2001: '],
    ['type=host&sort=severity', 'sort', 'one of address, name'],
    ['sort=host', 'sort', 'needs type='],
    ['type=error&sort=code', 'sort', 'needs type='],
    ['type=bogus', 'type', ''],
    ['type=port&cursor=x', 'cursor', ''],
    ['type=port&limit=0', 'limit', ''],
  ])('refuses %s', async (query, field, reason) => {
    const { status, body } = await get(`records?${query}`);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.details.fields[0]).toMatchObject({ field, reason: expect.stringContaining(reason) });
  });

  it.each(["'", '"; DROP TABLE strings', '%', '_', '\\\\', "x' or 1=1 --", '🂡', 'a'.repeat(1900)])(
    'takes %s as text',
    async (text) => {
      expect(await places(`records?type=port&q="${text.replaceAll('"', '\\"')}"`)).toEqual([]);
    },
  );
});

describe('GET /scans/{id}/facets', () => {
  it('counts values, and does not narrow a field by its own condition', async () => {
    const { facets, matches } = await data('facets?q=severity:>=high&fields=severity,port,product');
    expect(matches).toEqual({ hosts: 2, ports: 1, findings: 2 });
    expect(facets).toEqual([
      {
        field: 'severity',
        values: [
          { value: 'critical', count: 1 },
          { value: 'high', count: 1 },
          { value: 'low', count: 1 },
        ],
        more: 0,
      },
      { field: 'port', values: [{ value: 443, count: 1 }], more: 0 },
      { field: 'product', values: [{ value: 'nginx', count: 1 }], more: 0 },
    ]);
  });

  it('has default fields and a limit', async () => {
    const { facets } = await data('facets?limit=1');
    expect(facets.map(({ field }: { field: string }) => field)).toEqual([
      'severity',
      'port',
      'product',
      'service',
      'state',
      'os',
      'device',
      'class',
      'kev',
      'host',
    ]);
    expect(facets[1]).toEqual({ field: 'port', values: [{ value: 443, count: 2 }], more: 2 });
    expect(facets[9]).toEqual({ field: 'host', values: [{ value: '10.0.0.1', count: 2 }], more: 1 });
  });

  it.each([
    ['fields=bogus', 'fields'],
    ['fields=cvss', 'fields'],
    ['q=port:', 'q'],
    ['limit=0', 'limit'],
  ])('refuses %s', async (query, field) => {
    const { status, body } = await get(`facets?${query}`);
    expect([status, body.error.details.fields[0].field]).toEqual([400, field]);
  });
});

describe('GET /scans/{id}/fixes', () => {
  it('groups findings by what removes them, worst first', async () => {
    const { fixes, total, next_cursor } = await data('fixes?limit=1');
    expect(total).toBeGreaterThan(0);
    expect(fixes[0]).toMatchObject({ exploited: true, severity: 'critical' });
    expect(fixes[0].reason).toMatch(/^Critical and below; /);
    const all = (await data('fixes')).fixes;
    expect(all.reduce((sum: number, fix: { findings: number }) => sum + fix.findings, 0)).toBe(3);
    if (total > 1) expect((await data(`fixes?limit=1&cursor=${next_cursor}`)).fixes[0]).toEqual(all[1]);
    expect((await data('fixes?q=host:10.0.0.9')).total).toBe(0);
    expect((await get('fixes?cursor=x')).status).toBe(400);
  });
});

describe('GET /scans/{id}/explain', () => {
  it('explains a host by address or name, and a port', async () => {
    const explained = await data('explain?host=10.0.0.1&port=80');
    expect(explained).toMatchObject({
      host: '10.0.0.1',
      ports: [{ port: 80, banner: 'Server: nginx' }],
      left_out: 0,
    });
    expect((await data('explain?host=WEB-1.example.com')).ports).toHaveLength(2);
    expect((await data('explain?host=10.0.0.2')).findings).toHaveLength(1);
  });

  it('says why there is nothing', async () => {
    const details = async (path: string) => (await get(path)).body.error.details;
    const { silence, probes } = await details('explain?host=10.9.9.9');
    expect(silence).toEqual({ state: 'not_tried', reason: 'out_of_scope' });
    expect(probes.discovery.length).toBeGreaterThan(0);
    const port = { state: 'not_tried', reason: 'port_not_planned' };
    expect((await details('explain?host=10.0.0.1&port=64001')).silence).toEqual(port);
    expect((await details('explain?host=WEB-1.example.com&port=64001')).silence).toEqual(port);
    expect((await data('explain?host=10.0.0.1')).silence).toBeNull();
  });

  it('refuses what it cannot explain', async () => {
    expect((await get('explain?host=10.9.9.9')).body.error.code).toBe('not_found');
    expect((await get('explain?host=10.0.0.1&port=1')).body.error.code).toBe('not_found');
    expect((await get('explain')).status).toBe(400);
    expect((await get('explain?host=10.0.0.1&protocol=tcp')).status).toBe(400);
    expect((await get('explain?host=10.0.0.1&port=99999')).status).toBe(400);
  });
});

describe('GET /scans/{id}/coverage', () => {
  it('has the numbers of the report', async () => {
    expect(await data('coverage')).toMatchObject({
      text: expect.stringContaining('How many ports'),
      complete: false,
      addresses: { responded: 3 },
      errors: [{ code: 'resolve_failed', where: 'nowhere.example' }],
      errors_left: 0,
    });
  });
});

describe('an index', () => {
  it('does not exist for a scan that does not, and goes with its scan', async () => {
    for (const path of ['records?type=port', 'facets', 'fixes', 'explain?host=a', 'coverage'])
      expect((await get(path, '20200101-000000-000000')).status, path).toBe(404);
    const id = await service.submit('deleted');
    const record = await openRecord(service.workspace.scan(id));
    await record.append(port(1));
    await record.finish({ ...summary, scan_id: id });
    expect((await get('records?type=port', id)).body.data.total).toBe(1);
    expect(await readdir(service.workspace.indexDir)).toContain(`${id}.db`);
    expect((await service.app.inject({ method: 'DELETE', url: `/api/v1/scans/${id}` })).statusCode).toBe(200);
    expect(await readdir(service.workspace.indexDir)).not.toContain(`${id}.db`);
    expect((await get('records?type=port', id)).status).toBe(404);
  });

  it('has what a running scan has recorded so far', async () => {
    const id = await service.submit('running');
    const first = await get('records?type=port', id);
    expect([first.status, first.body.data.total]).toEqual([200, 0]);
    expect((await get('facets', id)).status).toBe(200);
    expect((await get('coverage', id)).body.data.addresses.responded).toBe(0);
    const record = await openRecord(service.workspace.scan(id));
    for (const number of [80, 22]) {
      await record.append(port(number));
      await record.seal();
      expect((await get('records?type=port', id)).body.data.total).toBe(number === 80 ? 1 : 2);
    }
    await record.close();
  });
});

describe('tenants', () => {
  it('see no records of each other', async () => {
    const tenants = await openService({
      'multi_tenant.enabled': true,
      'multi_tenant.tenants': ['one', 'two'],
    });
    const as = (tenant: string) => ({ 'x-tenant-id': tenant });
    const submitted = await tenants.app.inject({
      method: 'POST',
      url: '/api/v1/scans',
      headers: as('one'),
      payload: { targets: ['127.0.0.1'] },
    });
    const id: string = submitted.json().data.scan_id;
    const record = await openRecord(tenants.workspace.forTenant('one').scan(id));
    await record.append({ ...host });
    await record.append(port(1));
    await record.finish({ ...summary, scan_id: id });
    for (const path of ['records?type=port', 'facets', 'fixes', `explain?host=${host.host}`, 'coverage']) {
      const url = `/api/v1/scans/${id}/${path}`;
      expect((await tenants.app.inject({ url, headers: as('one') })).statusCode, path).toBe(200);
      expect((await tenants.app.inject({ url, headers: as('two') })).statusCode, path).toBe(404);
    }
    await tenants.close();
  });
});
