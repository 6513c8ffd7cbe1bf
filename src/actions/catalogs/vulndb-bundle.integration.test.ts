import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { buildGeneration } from '../../knowledge/vulndb/fixtures/build-generation.ts';
import { nvdRecord } from '../../knowledge/vulndb/fixtures/feeds.ts';
import { openVulndb } from '../../knowledge/vulndb/generation/generation.ts';
import { readCurrentManifest } from '../../knowledge/vulndb/generation/generation-pointer.ts';
import { readNvdRecord } from '../../knowledge/vulndb/import/import-nvd.ts';
import { exportBundle, importBundle, isBundle } from './vulndb-bundle.ts';

let home: string;
let from: string;
let to: string;
let bundle: string;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'portolan-bundle-'));
  from = join(home, 'from');
  to = join(home, 'to');
  bundle = join(home, 'data.tar');
  await buildGeneration(from, (writer) => {
    writer.addRecord(readNvdRecord(nvdRecord('CVE-2026-1000')));
    writer.setEpss([{ id: 'CVE-2026-1000', score: 0.5, percentile: 0.9 }]);
  });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

it('a bundle carries all data to a machine without network, and other programs can read it', async () => {
  const exported = await exportBundle(from, bundle);
  expect(await isBundle(bundle)).toBe(true);
  expect(execFileSync('tar', ['-tf', bundle], { encoding: 'utf8' })).toMatch(
    /^manifest\.json\nrecords\.bin\n/,
  );
  expect(await importBundle(to, bundle, false)).toEqual(exported);
  const db = await openVulndb(to);
  expect(db?.lookup('acme', 'httpd').map(({ id }) => id)).toEqual(['CVE-2026-1000']);
  expect(db?.rank('CVE-2026-1000')).toMatchObject({ epss: { score: 0.5 } });
  db?.close();
});

it('a bundle is imported again, and an older one only by force', async () => {
  await exportBundle(from, bundle);
  await importBundle(to, bundle, false);
  await importBundle(to, bundle, false);
  await buildGeneration(to, (writer) => writer.addRecord(readNvdRecord(nvdRecord('CVE-2026-2000'))));
  await expect(importBundle(to, bundle, false)).rejects.toThrow('is newer than the bundle');
  expect((await importBundle(to, bundle, true)).counts.cves).toBe(1);
});

it('without data there is nothing to export', async () => {
  expect(await exportBundle(to, bundle)).toBeNull();
  expect(existsSync(bundle)).toBe(false);
});

it('whatever is changed or cut off, nothing is imported, and the old data stays', async () => {
  await buildGeneration(to, (writer) => writer.addRecord(readNvdRecord(nvdRecord('CVE-2020-1000'))));
  const before = readCurrentManifest(to);
  await exportBundle(from, bundle);
  const whole = readFileSync(bundle);
  // The two blocks at the end are empty.
  for (let at = 0; at < whole.length - 1024; at += 97) {
    const changed = Buffer.from(whole);
    changed[at] = (changed[at] as number) ^ 0x41;
    writeFileSync(bundle, changed);
    const imported = await importBundle(to, bundle, true).catch(() => null);
    // Bytes of the padding and of dates in headers say nothing.
    if (imported !== null) expect(imported.counts.cves).toBe(1);
    writeFileSync(bundle, whole.subarray(0, at));
    await expect(importBundle(to, bundle, true)).rejects.toThrow();
  }
  writeFileSync(bundle, whole.toString('latin1').replace('records.bin', '../cords.bin'), 'latin1');
  await expect(importBundle(to, bundle, true)).rejects.toThrow('cannot be used');
  expect(readdirSync(home).sort()).toEqual(['data.tar', 'from', 'to']);
  expect(before?.counts.cves).toBe(1);
});
