import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { importVulndb } from '../../actions/catalogs/import-vulndb.ts';
import type { Config } from '../../config/schema.ts';
import { builtinCves } from '../../knowledge/vulndb/builtin.ts';
import { nvdPage, nvdRecord } from '../../knowledge/vulndb/fixtures/feeds.ts';
import { ScanVulnerabilities } from './scan-vulnerabilities.ts';

let dir: string;
let problems: string[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'portolan-scan-vulndb-'));
  problems = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const config = () => ({ vulndb: { dir: join(dir, 'vulndb') }, workspace: { dir } }) as Config;
const opened = () => new ScanVulnerabilities(config(), (problem) => problems.push(problem));

async function importRecords(...ids: string[]): Promise<string> {
  const file = join(dir, 'nvd.json');
  writeFileSync(file, JSON.stringify(nvdPage(ids.map((id) => nvdRecord(id)))));
  const { manifest } = await importVulndb({ dir: config().vulndb.dir, paths: [file], replace: false });
  return manifest.generation;
}

test('uses the builtin catalog without imported data', async () => {
  const scan = opened();
  expect(await scan.source()).toBe(builtinCves);
  expect([scan.generation, problems]).toEqual([null, []]);
  scan.close();
});

test('a scan keeps the state of the data that it began with', async () => {
  const first = await importRecords('CVE-2026-1000');
  const scan = opened();
  expect(scan.generation).toBeNull();
  const source = await scan.source();
  const second = await importRecords('CVE-2026-1001');
  expect(await scan.source()).toBe(source);
  expect([scan.generation, source.version]).toEqual([first, first]);
  const next = opened();
  await next.source();
  expect(next.generation).toBe(second);
  scan.close();
  next.close();
});

test('reports damaged data and falls back to the builtin catalog', async () => {
  mkdirSync(config().vulndb.dir);
  writeFileSync(join(config().vulndb.dir, 'current'), '../../etc/passwd');
  const scan = opened();
  expect(await scan.source()).toBe(builtinCves);
  expect(scan.generation).toBeNull();
  expect(problems).toEqual([expect.stringContaining('imported vulnerability data not used')]);
  scan.close();
});
