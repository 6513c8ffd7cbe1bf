import { appendFile, open, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { host, port, summary } from '../../../test/result-rows.ts';
import { isLongRun } from '../../../test/rounds.ts';
import { checkWorkspace } from '../../actions/workspace/check-workspace.ts';
import { compressRecord } from '../../workspace/record/record-compress.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import { openService, type Service } from '../fixtures/service.ts';

let service: Service;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

const ports = 4;

/** Ports of a record of some 11 MB, which is verified in the background. */
const manyPorts = 220;

async function largeScan(): Promise<string> {
  const scanId = await service.submit('large', { targets: [host.host] });
  const record = await openRecord(service.workspace.scan(scanId));
  await record.append(host);
  for (let number = 1; number <= manyPorts; number++)
    await record.append({ ...port(number), banner: 'b'.repeat(50_000) });
  await record.finish({
    ...summary,
    scan_id: scanId,
    live_hosts: 1,
    open_ports: manyPorts,
    vulnerabilities: 0,
  });
  await completed(scanId);
  return scanId;
}

/** A completed scan of one host with four open ports. */
async function completedScan(): Promise<string> {
  const scanId = await service.submit('done', { targets: [host.host] });
  const record = await openRecord(service.workspace.scan(scanId));
  await record.append(host);
  for (let number = 1; number <= ports; number++) await record.append(port(number));
  await record.finish({ ...summary, scan_id: scanId, live_hosts: 1, open_ports: ports, vulnerabilities: 0 });
  await completed(scanId);
  return scanId;
}

async function completed(scanId: string): Promise<void> {
  await service.store.scans.update(scanId, { status: 'running' });
  await service.store.scans.update(scanId, {
    status: 'completed',
    started_at: summary.timestamp,
    completed_at: summary.timestamp,
    results: { live_hosts: 1, open_ports: ports, vulnerabilities: 0 },
  });
}

type Damage = (folder: string) => Promise<void>;

async function flip(path: string, from: string, to: string): Promise<void> {
  const at = (await readFile(path)).indexOf(from);
  const file = await open(path, 'r+');
  await file.write(Buffer.from(to), 0, to.length, at);
  await file.close();
}

const damages: [string, Damage][] = [
  ['gone', (folder) => rm(join(folder, 'results.jsonl'))],
  ['empty', (folder) => truncate(join(folder, 'results.jsonl'))],
  [
    'cut at a row',
    async (folder) => {
      const text = await readFile(join(folder, 'results.jsonl'), 'utf8');
      await truncate(join(folder, 'results.jsonl'), text.indexOf('\n') + 1);
    },
  ],
  ['cut within a row', (folder) => truncate(join(folder, 'results.jsonl'), 100)],
  [
    'cut with its index lost',
    async (folder) => {
      await rm(join(folder, 'results.index'));
      await truncate(join(folder, 'results.jsonl'), 700);
    },
  ],
  [
    'without its first row and its index',
    async (folder) => {
      const text = await readFile(join(folder, 'results.jsonl'), 'utf8');
      await writeFile(join(folder, 'results.jsonl'), text.slice(text.indexOf('\n') + 1));
      await rm(join(folder, 'results.index'));
    },
  ],
  ['flipped into other JSON', (folder) => flip(join(folder, 'results.jsonl'), '"port":2', '"port":7')],
  ['flipped into no JSON', (folder) => flip(join(folder, 'results.jsonl'), '"port":2', '"port"}2')],
  ['with a row too many', (folder) => appendFile(join(folder, 'results.jsonl'), '{"type":"port"}\n')],
  ['gone with its folder', (folder) => rm(folder, { recursive: true })],
  [
    'a link to another file',
    async (folder) => {
      await rename(join(folder, 'results.jsonl'), join(folder, 'elsewhere'));
      await symlink('elsewhere', join(folder, 'results.jsonl'));
    },
  ],
  [
    'in a folder that is a link',
    async (folder) => {
      await rename(folder, `${folder}.elsewhere`);
      await symlink(`${folder}.elsewhere`, folder);
    },
  ],
  [
    'compressed and gone',
    async (folder) => {
      await compressRecord({ path: folder } as Parameters<typeof compressRecord>[0]);
      await rm(join(folder, 'results.jsonl.gz'));
    },
  ],
  [
    'compressed and flipped',
    async (folder) => {
      await compressRecord({ path: folder } as Parameters<typeof compressRecord>[0]);
      const file = await open(join(folder, 'results.jsonl.gz'), 'r+');
      await file.write(Buffer.alloc(4, 0x55), 0, 4, 30);
      await file.close();
    },
  ],
];

const get = (url: string) => service.app.inject({ url });
const resultsUrl = (scanId: string, format: string) => `/api/v1/scans/${scanId}/results?format=${format}`;
const exportUrl = (scanId: string, format: string) =>
  `/api/v1/workspace/scans/${scanId}/export?format=${format}`;

describe.each(damages)('a record that is %s', (name, damage) => {
  let scanId = '';
  beforeAll(async () => {
    scanId = await completedScan();
    await damage(service.workspace.scan(scanId).path);
  });

  it('is partial, with a warning, as JSON', async () => {
    const { data } = (await get(resultsUrl(scanId, 'json'))).json();
    expect(data).toMatchObject({ partial: true, warnings: [{ code: 'record_damaged' }] });
  });

  it('is partial, with an error row, as JSON Lines', async () => {
    const rows = (await get(resultsUrl(scanId, 'jsonl'))).body.trim().split('\n');
    const parsed = rows.map((row) => JSON.parse(row));
    expect(parsed[0]).toMatchObject({ type: 'error', code: 'record_damaged' });
    expect(parsed.at(-1)).toMatchObject({ type: 'summary', partial: true });
  });

  it('is an error as CSV, which has no place for a warning', async () => {
    const response = await get(resultsUrl(scanId, 'csv'));
    expect(response.statusCode).toBe(500);
    expect(response.json().error).toMatchObject({ code: 'internal_error' });
  });

  it('says so in every export', async () => {
    // Both are made from one model.
    for (const format of isLongRun || name === 'gone' ? ['html', 'markdown'] : ['html'])
      expect((await get(exportUrl(scanId, format))).body).toContain('Results lost');
    expect((await get(exportUrl(scanId, 'nmap'))).body).toContain('exit="error"');
    const sarif = (await get(exportUrl(scanId, 'sarif'))).json();
    expect(sarif.runs[0].invocations[0]).toMatchObject({ executionSuccessful: false });
    const archive = await unpackTar(gunzipSync((await get(exportUrl(scanId, 'tar.gz'))).rawPayload));
    const note = archive.find(({ header }) => header.name === `${scanId}/damage.json`);
    expect(JSON.parse(Buffer.from(note?.data ?? []).toString())).toMatchObject({ partial: true });
  });

  it('is partial, with a warning, in the pages of its records', async () => {
    const { data } = (await get(`/api/v1/scans/${scanId}/records`)).json();
    expect(data).toMatchObject({ partial: true, warnings: [{ code: 'record_damaged' }] });
  });

  it('ends its events with a warning, as partial', async () => {
    const { body } = await get(`/api/v1/scans/${scanId}/events`);
    expect(body).toMatch(/event: warning\ndata: \{"code":"record_damaged"/);
    expect(body).toMatch(/event: end\ndata: .*"partial":true/);
  });

  it('is named by the health endpoint', async () => {
    const { checks } = (await get('/api/v1/health')).json();
    const check = checks.find(({ name }: { name: string }) => name === 'records');
    expect(check).toMatchObject({ status: 'degraded' });
    expect(await service.context.damaged.listedIn(service.store)).toContain(scanId);
  });

  it('makes nothing look removed in a comparison', async () => {
    const whole = await completedScan();
    const { data } = (await get(`/api/v1/scans/${scanId}/diff?against=${whole}`)).json();
    expect([data.ports.removed, data.ports.changed, data.hosts.removed]).toEqual([[], [], []]);
    const { data: back } = (await get(`/api/v1/scans/${whole}/diff?against=${scanId}`)).json();
    expect([back.ports.added, back.ports.changed]).toEqual([[], []]);
    for (const entry of data.not_comparable)
      expect(entry).toMatchObject({ reason: 'record_damaged', missing_in: scanId });
    if (name !== 'with a row too many') expect(data.not_comparable.length).toBeGreaterThan(0);
  });
});

describe('a record that is whole', () => {
  it('has no warning, compressed or not, also when its index is lost', async () => {
    const scanId = await completedScan();
    const folder = service.workspace.scan(scanId);
    const expected = { partial: false, warnings: [] };
    await rm(join(folder.path, 'results.index'));
    expect((await get(resultsUrl(scanId, 'json'))).json().data).toMatchObject(expected);
    await compressRecord(folder);
    expect((await get(resultsUrl(scanId, 'json'))).json().data).toMatchObject(expected);
    expect((await get(`/api/v1/scans/${scanId}/records`)).json().data).toMatchObject(expected);
    expect(await service.context.damaged.listedIn(service.store)).not.toContain(scanId);
  });

  it('is not damaged for a scan that failed before it recorded anything', async () => {
    const scanId = await service.submit('failed');
    await service.store.scans.update(scanId, { status: 'failed', completed_at: summary.timestamp });
    const { data } = (await get(resultsUrl(scanId, 'json'))).json();
    expect(data).toMatchObject({ partial: true, warnings: [] });
  });

  it('is forgotten by the health endpoint once it is back', async () => {
    const scanId = await completedScan();
    const { path } = service.workspace.scan(scanId);
    await rename(path, `${path}.away`);
    await get(resultsUrl(scanId, 'json'));
    expect(await service.context.damaged.listedIn(service.store)).toContain(scanId);
    await rename(`${path}.away`, path);
    await get(resultsUrl(scanId, 'json'));
    expect(await service.context.damaged.listedIn(service.store)).not.toContain(scanId);
  });
});

describe('damage from before the end', () => {
  it('is not forgotten when the record is finished', async () => {
    const scanId = await service.submit('flipped', { targets: [host.host] });
    const folder = service.workspace.scan(scanId);
    const record = await openRecord(folder);
    await record.append(port(1));
    await record.append(port(2));
    await record.seal();
    await flip(join(folder.path, 'results.jsonl'), '"port":2', '"port"}2');
    await record.finish({ ...summary, scan_id: scanId });
    await completed(scanId);
    const { data } = (await get(resultsUrl(scanId, 'json'))).json();
    expect(data).toMatchObject({ partial: true, warnings: [{ code: 'record_damaged' }] });
    expect(data.results[0].ports).toHaveLength(1);
  });

  it('is not forgotten when workspace check ends a torn record', async () => {
    const scanId = await completedScan();
    const { path } = service.workspace.scan(scanId);
    const text = await readFile(join(path, 'results.jsonl'), 'utf8');
    await truncate(join(path, 'results.jsonl'), text.indexOf('\n') + 10);
    await checkWorkspace({ store: service.store, workspace: service.workspace, served: false }, true);
    const { data } = (await get(resultsUrl(scanId, 'json'))).json();
    expect(data).toMatchObject({ partial: true, warnings: [{ code: 'record_damaged' }] });
    expect(data.results).toHaveLength(1);
  });
});

describe('events without the order of the rows', () => {
  it('end as partial with a warning', async () => {
    const scanId = await completedScan();
    await truncate(join(service.workspace.scan(scanId).path, 'results.sequence'), 16);
    const { body } = await get(`/api/v1/scans/${scanId}/events`);
    expect(body).toContain('"code":"record_damaged"');
    expect(body).toMatch(/event: end\ndata: .*"partial":true/);
  });
});

describe('a scan that is being deleted', () => {
  it.each(['json', 'jsonl', 'csv'])(
    'is not found as %s between the steps of the deletion',
    async (format) => {
      const scanId = await completedScan();
      await service.workspace.scan(scanId).retire();
      expect((await get(resultsUrl(scanId, format))).statusCode).toBe(404);
      expect((await get(exportUrl(scanId, 'tar.gz'))).statusCode).toBe(404);
      expect((await get(`/api/v1/scans/${scanId}/records`)).statusCode).toBe(404);
      const whole = await completedScan();
      expect((await get(`/api/v1/scans/${scanId}/diff?against=${whole}`)).statusCode).toBe(404);
    },
  );

  it('sends every reader all its rows or 404, never fewer', async () => {
    const scanIds = await Promise.all(Array.from({ length: 20 }, completedScan));
    const responses = scanIds.flatMap((scanId) => {
      const reads = ['json', 'jsonl', 'csv'].map((format) => get(resultsUrl(scanId, format)));
      const gone = service.app.inject({ method: 'DELETE', url: `/api/v1/scans/${scanId}` });
      const late = ['json', 'jsonl'].map((format) => get(resultsUrl(scanId, format)));
      return [...reads, ...late, gone.then(() => get(resultsUrl(scanId, 'json')))];
    });
    for (const { statusCode, body } of await Promise.all(responses)) {
      if (statusCode === 404) continue;
      expect(statusCode).toBe(200);
      expect(body).not.toContain('record_damaged');
      for (let number = 1; number <= ports; number++)
        expect(body).toMatch(new RegExp(`"port":${number}\\b|,${number},tcp`));
    }
  });
});

describe('a large record with a damaged row', () => {
  const damaged = { partial: true, warnings: ['record_damaged'] };
  const page = async (scanId: string, offset: number) => {
    const { data } = (await get(`/api/v1/scans/${scanId}/records?limit=5&offset=${offset}`)).json();
    return { partial: data.partial, warnings: data.warnings.map(({ code }: { code: string }) => code) };
  };
  const damagedScan = async () => {
    const scanId = await largeScan();
    await flip(
      join(service.workspace.scan(scanId).path, 'results.jsonl'),
      `"port":${manyPorts}`,
      '"port":999',
    );
    return scanId;
  };

  /** The first ten are named, the rest is counted. */
  const namedByHealth = async () => {
    const { checks } = (await get('/api/v1/health')).json();
    const { message = '' } = checks.find(({ name }: { name: string }) => name === 'records') ?? {};
    const more = Number(/ and (\d+) more/.exec(message)?.[1] ?? 0);
    return more + (message.match(/\d{8}-\d{6}-\w+/g) ?? []).length;
  };

  it('is partial in the page that holds the row, at once, and soon in every other', async () => {
    const scanId = await damagedScan();
    expect(await page(scanId, manyPorts - 2)).toEqual(damaged);
    await expect.poll(() => page(scanId, 0)).toEqual(damaged);
  });

  it.each(['json', 'jsonl', 'csv'])(
    'breaks the first download off as %s, and is partial from then on',
    async (format) => {
      const scanId = await damagedScan();
      const url = `/api/v1/scans/${scanId}/results`;
      const before = await namedByHealth();
      await expect(get(`${url}?format=${format}`)).rejects.toThrow();
      expect(await namedByHealth()).toBe(before + 1);
      expect((await get(url)).json().data).toMatchObject({
        partial: true,
        warnings: [{ code: 'record_damaged' }],
      });
    },
  );

  it('breaks the first download off also where its index is lost and rows are missing', async () => {
    const scanId = await largeScan();
    const { path } = service.workspace.scan(scanId);
    const lines = (await readFile(join(path, 'results.jsonl'), 'utf8')).split('\n');
    await writeFile(join(path, 'results.jsonl'), lines.toSpliced(5, 1).join('\n'));
    await rm(join(path, 'results.index'));
    const url = `/api/v1/scans/${scanId}/results`;
    await expect(get(url)).rejects.toThrow();
    expect((await get(url)).json().data).toMatchObject({ partial: true });
  });
});
