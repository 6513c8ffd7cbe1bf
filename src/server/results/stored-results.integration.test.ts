import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { storedScanId, storeScan } from '../../actions/fixtures/stored-scan.ts';
import { codeOf } from '../fixtures/grpc-client.ts';
import { type GrpcService, openGrpcService } from '../fixtures/grpc-service.ts';
import type { Service } from '../fixtures/service.ts';

const ports = 40;

describe('a scan that only the result store has', () => {
  let dir: string;
  let results: string;
  let grpc: GrpcService;
  let service: Service;
  const scanId = storedScanId(1);
  const other = storedScanId(2);

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'portolan-stored-'));
    results = join(dir, 'results');
    await mkdir(results);
    grpc = await openGrpcService(
      { 'workspace.result_store.url': pathToFileURL(results).href },
      { working: true },
    );
    service = grpc.service;
    const rules = { compress: true, keep_artifacts: true };
    await storeScan(service, 1, ports, rules);
    await storeScan(service, 2, ports + 1, rules);
    service.context.results?.wake();
    for (const id of [scanId, other])
      await expect.poll(() => service.store.scans.storedAt(id)).not.toBeNull();
  });

  afterEach(async () => {
    await grpc.close();
    await rm(dir, { recursive: true, force: true });
  });

  const get = (path: string, headers = {}) => service.app.inject({ url: `/api/v1/${path}`, headers });
  const lose = async () => {
    for (const id of [scanId, other]) await service.workspace.scan(id).remove();
  };
  const stored = () => readdir(join(results, '_')).catch(() => []);
  const reads = {
    json: `scans/${scanId}/results`,
    jsonl: `scans/${scanId}/results?format=jsonl`,
    csv: `scans/${scanId}/results?format=csv`,
    records: `scans/${scanId}/records?limit=50`,
    html: `workspace/scans/${scanId}/export?format=html`,
    nmap: `workspace/scans/${scanId}/export?format=nmap`,
    sarif: `workspace/scans/${scanId}/export?format=sarif`,
    events: `scans/${scanId}/events`,
    diff: `scans/${scanId}/diff?against=${other}`,
  };
  const stable = (text: string) =>
    text
      .replace(/"(?:request_id|timestamp|generated_at)":"[^"]*"/g, '')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '');

  it('is read as if it were here, in every way', async () => {
    const before = new Map<string, string>();
    for (const [name, path] of Object.entries(reads)) before.set(name, stable((await get(path)).body));
    await lose();
    for (const [name, path] of Object.entries(reads)) {
      const response = await get(path);
      expect(response.statusCode, name).toBe(200);
      expect(stable(response.body), name).toBe(before.get(name));
    }
    const archive = await get(`workspace/scans/${scanId}/export?format=tar.gz`);
    const banners = await readdir(join(service.workspace.dir, 'cache/results', scanId, 'artifacts/banners'));
    expect(archive.statusCode).toBe(200);
    expect(banners).toHaveLength(ports);
    const { messages } = await grpc
      .scans()
      .all<{ data: Buffer }>('GetResults', { scan_id: scanId, format: 'jsonl' });
    expect(Buffer.concat(messages.map(({ data }) => data)).toString()).toContain('"port":40');
  });

  it('503 with Retry-After while the store is away, by gRPC too, and nothing half-written', async () => {
    await lose();
    await rename(results, `${results}-away`);
    const response = await get(reads.records);
    expect(response.statusCode).toBe(503);
    expect(response.headers['retry-after']).toBe('5');
    expect(response.json().error).toMatchObject({ code: 'unavailable' });
    expect(response.body).not.toContain(results);
    expect((await get(reads.events)).statusCode).toBe(503);
    expect(codeOf(await grpc.scans().all('GetResults', { scan_id: scanId }))).toBe('unavailable');
    expect(await readdir(join(service.workspace.dir, 'cache/results')).catch(() => [])).toEqual([]);
    await rename(`${results}-away`, results);
    expect((await get(reads.records)).statusCode).toBe(200);
  });

  it('500 when stored results are damaged, without revealing the cause', async () => {
    await lose();
    await writeFile(join(results, '_', scanId, 'results.jsonl.gz'), 'other');
    const response = await get(reads.jsonl);
    expect(response.statusCode).toBe(500);
    expect(response.json().error.code).toBe('internal_error');
    await rm(join(results, '_', scanId, 'manifest.json'));
    expect((await get(reads.jsonl)).statusCode).toBe(500);
  });

  it('is deleted there first, and not at all while the store is away', async () => {
    await lose();
    await get(reads.records);
    await rename(results, `${results}-away`);
    const refused = await service.app.inject({ method: 'DELETE', url: `/api/v1/scans/${scanId}` });
    expect(refused.statusCode).toBe(503);
    expect(refused.headers['retry-after']).toBe('5');
    expect((await get(`scans/${scanId}`)).statusCode).toBe(200);
    await rename(`${results}-away`, results);
    const gone = await service.app.inject({ method: 'DELETE', url: `/api/v1/scans/${scanId}` });
    expect(gone.statusCode).toBe(200);
    expect(await stored()).toEqual([other]);
    expect(existsSync(join(service.workspace.dir, 'cache/results', scanId))).toBe(false);
    expect((await get(reads.records)).statusCode).toBe(404);
  });

  it('goes with a garbage collection, which leaves it while the store is away', async () => {
    await rename(results, `${results}-away`);
    const collect = () =>
      service.app.inject({ method: 'POST', url: '/api/v1/workspace/gc', payload: { keep_last: 1 } });
    const failed = (await collect()).json().data;
    expect(failed).toMatchObject({ deleted_count: 0, errors: [{ scan_id: scanId }] });
    expect(existsSync(service.workspace.scan(scanId).path)).toBe(true);
    await rename(`${results}-away`, results);
    expect((await collect()).json().data).toMatchObject({ deleted_scans: [scanId], errors: [] });
    expect(await stored()).toEqual([other]);
  });

  it('health says when results cannot be stored', async () => {
    await rename(results, `${results}-away`);
    await writeFile(results, '');
    await storeScan(service, 3, 1);
    service.context.results?.wake();
    const checks = async () => (await get('health')).json().data.checks as { name: string; status: string }[];
    await expect
      .poll(checks)
      .toContainEqual(expect.objectContaining({ name: 'result_store', status: 'degraded' }));
    await rm(results);
    await rename(`${results}-away`, results);
    await expect.poll(checks).not.toContainEqual(expect.objectContaining({ name: 'result_store' }));
    expect(await service.store.scans.storedAt(storedScanId(3))).not.toBeNull();
  });
});
