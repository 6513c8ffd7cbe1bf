import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { epssFeed, kevFeed, nvdPage, nvdRecord } from '../../knowledge/vulndb/fixtures/feeds.ts';
import { openVulndb } from '../../knowledge/vulndb/generation/generation.ts';
import { readCurrentManifest } from '../../knowledge/vulndb/generation/generation-pointer.ts';
import { importVulndb } from './import-vulndb.ts';
import { showVulndb, vulndbAge } from './show-vulndb.ts';

let home: string;
let dir: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'portolan-import-'));
  dir = join(home, 'cache', 'vulndb');
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

function file(name: string, content: unknown): string {
  const path = join(home, name);
  const raw = typeof content === 'string' || content instanceof Uint8Array;
  writeFileSync(path, raw ? content : JSON.stringify(content));
  return path;
}

const run = (paths: string[], replace = false) => importVulndb({ dir, paths, replace });

describe('importVulndb', () => {
  it('reads files of every format at once and reports the outcome of each', async () => {
    const page = nvdPage([nvdRecord('CVE-2026-1000'), nvdRecord('CVE-2026-1001', { modified: 'never' })]);
    const paths = [
      file('nvd.json.gz', gzipSync(JSON.stringify(page))),
      file('kev.json', kevFeed(['CVE-2026-1000'])),
      file('epss.csv', epssFeed([['CVE-2026-1000', 0.5, 0.9]])),
    ];
    const { manifest, imported } = await run(paths);
    expect(imported.map(({ formats, accepted, refused }) => [formats, accepted, refused])).toEqual([
      [['nvd'], 1, 1],
      [['kev'], 1, 0],
      [['epss'], 1, 0],
    ]);
    expect(imported[0]?.reasons).toEqual(['CVE-2026-1001: lastModified must be a date and time']);
    expect(manifest.sources['nvd']).toMatchObject({ data_date: '2026-11-20T01:02:03.000Z', mark: null });
    expect(manifest.synced_at).toBeNull();
    expect(showVulndb(dir)).toEqual({
      catalogue_version: manifest.generation,
      cve_count: 1,
      kev_count: 1,
      epss_count: 1,
      fix_count: 0,
      lacks: 'The data here has no fixes of distributions: portolan vulndb sync fetches them.',
      synced_at: manifest.created_at,
      sources: ['builtin', 'epss', 'kev', 'nvd'],
      notices: [
        'This product uses data from the NVD API but is not endorsed or certified by the NVD.',
        expect.stringContaining('FIRST'),
      ],
    });
    expect(vulndbAge(dir, Date.parse(manifest.created_at) + 90_000)).toBe(90_000);
  });

  it('walks folders, passes over what is of another kind, and follows no link', async () => {
    const folder = join(home, 'list');
    mkdirSync(join(folder, '2026', '1xxx'), { recursive: true });
    mkdirSync(join(folder, '.git'));
    writeFileSync(join(folder, '2026/1xxx/CVE-2026-1000.json'), JSON.stringify(nvdRecord('CVE-2026-1000')));
    writeFileSync(join(folder, '2026/1xxx/CVE-2026-1001.json'), JSON.stringify(nvdRecord('CVE-2026-1001')));
    writeFileSync(
      join(folder, '2026/bad.json'),
      JSON.stringify(nvdRecord('CVE-2026-1002', { modified: 'x' })),
    );
    writeFileSync(join(folder, 'delta.json'), '{"fetchTime":"now"}');
    writeFileSync(join(folder, 'README.md'), 'text');
    writeFileSync(join(folder, '.git', 'x.json'), 'broken');
    symlinkSync(file('outside.json', 'broken'), join(folder, 'link.json'));
    const { imported, manifest } = await run([folder]);
    expect(imported[0]).toMatchObject({ files: 2, skipped: 1, accepted: 2, refused: 1 });
    expect(manifest.counts.cves).toBe(2);
    writeFileSync(join(folder, '2026/torn.json'), '{"id":"CVE-');
    await expect(run([folder])).rejects.toThrow(/torn\.json is truncated in line 1; nothing was imported/);
    mkdirSync(join(home, 'empty'));
    await expect(run([join(home, 'empty')])).rejects.toThrow(/contains no file with vulnerability data/);
  });

  it('refuses all when one file is broken, names it, and keeps the old data', async () => {
    await run([file('good.json', nvdPage([nvdRecord('CVE-2026-1000')]))]);
    const before = readCurrentManifest(dir);
    const good = file('more.json', nvdPage([nvdRecord('CVE-2026-1001')]));
    for (const [name, content, reason] of [
      [
        'torn.json',
        JSON.stringify(nvdPage([nvdRecord('CVE-2026-1002')])).slice(0, -3),
        /torn\.json is truncated/,
      ],
      ['odd.json', '<html>', /odd\.json is neither JSON nor/],
      [
        'torn.json.gz',
        gzipSync(JSON.stringify(nvdPage([nvdRecord('CVE-2026-1000')]))).subarray(0, 100),
        /torn\.json\.gz is truncated/,
      ],
    ] as const) {
      await expect(run([good, file(name, content)])).rejects.toThrow(reason);
    }
    await expect(run([good, join(home, 'missing')])).rejects.toThrow(/missing cannot be read: ENOENT/);
    expect(readCurrentManifest(dir)).toEqual(before);
    expect(readdirSync(dir).filter((name) => name.startsWith('.staging'))).toEqual([]);
  });

  it('discards existing data on request', async () => {
    await run([file('one.json', nvdPage([nvdRecord('CVE-2026-1000')]))]);
    await run([file('two.json', nvdPage([nvdRecord('CVE-2026-1001')]))]);
    expect(readCurrentManifest(dir)?.counts.cves).toBe(2);
    await run([file('three.json', nvdPage([nvdRecord('CVE-2026-1002')]))], true);
    const db = await openVulndb(dir);
    expect(db?.lookup('acme', 'httpd').map(({ id }) => id)).toEqual(['CVE-2026-1002']);
    db?.close();
  });

  it('says that another import is under way', async () => {
    const path = file('one.json', nvdPage([nvdRecord('CVE-2026-1000')]));
    const outcomes = await Promise.allSettled([run([path]), run([path])]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const [refused] = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused?.reason).toMatchObject({ code: 'conflict', message: /in progress/ });
  });
});
