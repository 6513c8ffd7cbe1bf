import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CveRecord } from '../cve-record.ts';
import { buildGeneration } from '../fixtures/build-generation.ts';
import { cve5Record, nvdRecord } from '../fixtures/feeds.ts';
import { VulndbTrial } from '../fixtures/vulndb-trial.ts';
import { readCve5Record } from '../import/import-cve5.ts';
import { readNvdRecord } from '../import/import-nvd.ts';
import { openVulndb } from './generation.ts';
import { readCurrentManifest } from './generation-pointer.ts';
import { GenerationWriter } from './generation-writer.ts';
import { newerFiles } from './manifest.ts';

const trial = new VulndbTrial();

const nvd = (id: string, options = {}) => readNvdRecord(nvdRecord(id, options));

describe('a generation', () => {
  it('is not there before something was imported', async () => {
    expect(await openVulndb(trial.dir)).toBeNull();
    expect(await openVulndb(join(trial.dir, 'missing'))).toBeNull();
    expect(readCurrentManifest(trial.dir)).toBeNull();
  });

  it('gives back whole records by any spelling of the product, and nothing for others', async () => {
    const records = ['CVE-2026-1001', 'CVE-2026-1000', 'CVE-2025-99999'].map((id) => nvd(id));
    const manifest = await buildGeneration(trial.dir, (writer) => {
      for (const record of records) writer.addRecord(record);
      writer.addRecord(nvd('CVE-2026-3000', { product: 'http\\!d' }));
    });
    expect(manifest.counts).toEqual({ cves: 4, rejected: 0, products: 2, kev: 0, epss: 0, fixes: 0 });
    const db = await trial.open();
    const found = db.lookup('ACME', 'httpd');
    expect(found.map(({ id }) => id)).toEqual(['CVE-2025-99999', 'CVE-2026-1000', 'CVE-2026-1001']);
    expect(JSON.parse(JSON.stringify(found))).toEqual(records.toReversed());
    expect(db.lookup('acme', 'http!d')).toHaveLength(1);
    expect(db.lookup('acme', 'http\\!d')).toHaveLength(1);
    expect(db.lookup('acme', 'http')).toEqual([]);
    expect(db.lookup('', '')).toEqual([]);
    expect(db.version).toBe(manifest.generation);
    // A caller that changes a result does not affect others.
    db.lookup('acme', 'httpd').length = 0;
    expect(db.lookup('acme', 'httpd')).toHaveLength(3);
    db.close();
  });

  it('keeps long configurations and many products whole', async () => {
    const long = nvd('CVE-2026-1000');
    const [configuration] = long.configurations;
    const many: CveRecord = {
      ...long,
      configurations: Array.from({ length: 300 }, (_, index) => ({
        operator: 'AND' as const,
        negate: false,
        nodes: (configuration?.nodes ?? []).map((node) => ({
          ...node,
          matches: node.matches.map((match) => ({
            ...match,
            cpe: match.cpe.replace('httpd', `httpd_${index}`),
          })),
        })),
      })),
    };
    await buildGeneration(trial.dir, (writer) => writer.addRecord(many));
    const db = await trial.open();
    expect(db.manifest.counts.products).toBe(300);
    expect(JSON.parse(JSON.stringify(db.lookup('acme', 'httpd_299')[0]))).toEqual(many);
    db.close();
  });

  it('finds no record by a platform, and none that was withdrawn', async () => {
    const record = nvd('CVE-2026-1000');
    const platform = structuredClone(record);
    for (const { nodes } of platform.configurations) {
      for (const node of nodes) for (const match of node.matches) match.vulnerable = false;
    }
    const manifest = await buildGeneration(trial.dir, (writer) => {
      writer.addRecord(platform);
      writer.addRecord(nvd('CVE-2026-1001', { status: 'Rejected' }));
    });
    expect([manifest.counts.cves, manifest.counts.rejected]).toEqual([2, 1]);
    expect(await trial.idsOf('acme', 'httpd')).toEqual([]);
  });

  it('is made of the one before and what is new; the newer state of a record holds, whichever came first', async () => {
    await buildGeneration(trial.dir, (writer) => {
      for (const id of ['CVE-2026-1000', 'CVE-2026-1001', 'CVE-2026-1002']) writer.addRecord(nvd(id));
    });
    const first = trial.generations();
    await buildGeneration(trial.dir, (writer) => {
      writer.addRecord(nvd('CVE-2026-1003'));
      writer.addRecord(nvd('CVE-2026-1000', { end: '2.5', modified: '2026-02-01T00:00:00.000' }));
      writer.addRecord(nvd('CVE-2026-1001', { end: '1.0', modified: '2020-02-01T00:00:00.000' }));
      writer.addRecord(nvd('CVE-2026-1002', { status: 'Rejected', modified: '2026-02-01T00:00:00.000' }));
    });
    expect(trial.generations()).toHaveLength(1);
    expect(trial.generations()).not.toEqual(first);
    const db = await trial.open();
    const ends = db
      .lookup('acme', 'httpd')
      .map(({ id, configurations }) => [id, configurations[0]?.nodes[0]?.matches[0]?.endExcluding]);
    expect(ends).toEqual([
      ['CVE-2026-1000', '2.5'],
      ['CVE-2026-1001', '2.4.1'],
      ['CVE-2026-1003', '2.4.1'],
    ]);
    expect(db.manifest.counts.cves).toBe(4);
    db.close();
  });

  it('puts several sources together, and keeps them apart for later updates', async () => {
    const { configurations, ...rest } = nvdRecord('CVE-2025-1000');
    const unanalysed = readNvdRecord({ ...rest, vulnStatus: 'Awaiting Analysis', metrics: {} });
    const affected = [
      { vendor: 'acme', product: 'httpd', versions: [{ status: 'affected', version: '0', lessThan: '9' }] },
    ];
    const cve5 = readCve5Record(cve5Record('CVE-2025-1000', { affected }));
    await buildGeneration(trial.dir, (writer) => writer.addRecord(unanalysed));
    expect(await trial.idsOf('acme', 'httpd')).toEqual([]);
    await buildGeneration(trial.dir, (writer) => writer.addRecord(cve5));
    const endOf = async () => {
      const db = await trial.open();
      const [record] = db.lookup('acme', 'httpd');
      db.close();
      return [record?.source, record?.configurations[0]?.nodes[0]?.matches[0]?.endExcluding];
    };
    expect(await endOf()).toEqual(['nvd+cve5', '9']);
    const { id, descriptions } = rest;
    const override = readNvdRecord({ id, descriptions, configurations, annotation: {} });
    await buildGeneration(trial.dir, (writer) => writer.addRecord(override));
    expect(await endOf()).toEqual(['nvd+cve5+overrides', '2.4.1']);
    await buildGeneration(trial.dir, (writer) =>
      writer.addRecord(nvd('CVE-2025-1000', { end: '3', modified: '2026-05-01T00:00:00.000' })),
    );
    expect(await endOf()).toEqual(['nvd+cve5+overrides', '2.4.1']);
    const db = await trial.open();
    const [record] = db.lookup('acme', 'httpd');
    expect([record?.title, record?.description, record?.cvss[0]?.score]).toEqual([
      'Overflow in httpd',
      'An overflow in httpd.',
      9.8,
    ]);
    db.close();
  });

  it('ranks by KEV and EPSS, and replaces these tables as wholes without touching the rest', async () => {
    await buildGeneration(trial.dir, (writer) => {
      writer.addRecord(nvd('CVE-2026-1000'));
      writer.setKev([{ id: 'CVE-2026-1000', added: '2026-11-19', ransomware: true }]);
      writer.setEpss([
        { id: 'CVE-2026-1001', score: 1, percentile: 1 },
        { id: 'CVE-1999-0001', score: 0.00042, percentile: 0.123456789 },
        { id: 'CVE-2026-1000', score: 0.94358, percentile: 0.99999 },
      ]);
    });
    const before = await trial.open();
    expect(before.rank('CVE-2026-1000')).toEqual({
      kev: { added: '2026-11-19', ransomware: true },
      epss: { score: 0.94358, percentile: 0.99999 },
    });
    expect(before.rank('CVE-1999-0001')).toEqual({
      kev: null,
      epss: { score: 0.00042, percentile: 0.123456789 },
    });
    expect(before.rank('CVE-2026-1001').epss).toEqual({ score: 1, percentile: 1 });
    expect(before.rank('CVE-2026-9999')).toEqual({ kev: null, epss: null });
    expect(before.rank('nonsense')).toEqual({ kev: null, epss: null });
    const manifest = await buildGeneration(trial.dir, (writer) => writer.setKev([]));
    expect(manifest.counts).toMatchObject({ cves: 1, kev: 0, epss: 3 });
    expect(await trial.idsOf('acme', 'httpd')).toEqual(['CVE-2026-1000']);
    // An open reader still reads the old data, although its files are deleted.
    expect(existsSync(join(trial.dir, before.version))).toBe(false);
    expect(before.lookup('acme', 'httpd')[0]?.description).toBe('An overflow in httpd.');
    expect(before.rank('CVE-2026-1000').kev).not.toBeNull();
    before.close();
  });

  it('knows what distributions say, package by package', async () => {
    const fixes = (name: string, fixed: [string, string | null][]) => ({
      distribution: 'debian',
      release: '12',
      package: name,
      fixed: new Map(fixed),
    });
    await buildGeneration(trial.dir, (writer) => {
      writer.addFixes(
        fixes('openssh', [
          ['CVE-2023-38408', '1:9.2p1-2+deb12u1'],
          ['CVE-2007-2768', null],
        ]),
      );
      writer.addFixes(fixes('dropbear', [['CVE-2023-38408', '0']]));
    });
    const manifest = await buildGeneration(trial.dir, (writer) =>
      writer.addFixes(fixes('dropbear', [['CVE-2024-1000', '2']])),
    );
    expect(manifest.distributions).toEqual([{ distribution: 'debian', release: '12', statements: 3 }]);
    const db = await trial.open();
    expect(db.fixes('debian', '12', 'CVE-2023-38408')).toEqual([
      {
        distribution: 'debian',
        release: '12',
        package: 'openssh',
        cve: 'CVE-2023-38408',
        fixed: '1:9.2p1-2+deb12u1',
      },
    ]);
    expect(db.fixes('debian', '12', 'CVE-2007-2768')[0]?.fixed).toBeNull();
    expect(db.fixes('debian', '12', 'CVE-2024-1000')[0]?.package).toBe('dropbear');
    expect(db.fixes('debian', '11', 'CVE-2007-2768')).toEqual([]);
    expect([db.knowsDistribution('debian', '12'), db.knowsDistribution('debian', '11')]).toEqual([
      true,
      false,
    ]);
    db.close();
  });
});

describe('what came since', () => {
  const everything = async (): Promise<unknown> => {
    const db = await trial.open();
    try {
      const records = ['httpd', 'ftpd', 'sshd'].map((product) => db.lookup('acme', product));
      return JSON.parse(JSON.stringify([db.manifest.counts, records]));
    } finally {
      db.close();
    }
  };
  const base = Array.from({ length: 200 }, (_, index) => nvd(`CVE-2025-${1000 + index}`));
  const later = { modified: '2026-05-01T00:00:00.000' };
  const changes = [
    [nvd('CVE-2025-1007', { ...later, end: '7' }), nvd('CVE-2026-5001', { product: 'ftpd' })],
    [
      nvd('CVE-2025-1008', { ...later, status: 'Rejected' }),
      nvd('CVE-2025-1009', { ...later, product: 'sshd' }),
    ],
    // Again, back, and an older state, which changes nothing.
    [
      nvd('CVE-2025-1007', { modified: '2026-06-01T00:00:00.000', end: '9' }),
      nvd('CVE-2025-1008', { modified: '2026-06-01T00:00:00.000' }),
      nvd('CVE-2026-5001', { modified: '2020-06-01T00:00:00.000', product: 'sshd' }),
    ],
  ];
  const addAll = (records: readonly CveRecord[]) => (writer: GenerationWriter) => {
    for (const record of records) writer.addRecord(record);
  };

  it('answers as if everything had been imported at once, and the large files stay as they are', async () => {
    const { files } = await buildGeneration(trial.dir, addAll(base));
    for (const [at, records] of changes.entries()) {
      const manifest = await buildGeneration(trial.dir, addAll(records));
      expect(manifest.files['records.bin']).toEqual(files['records.bin']);
      expect(manifest.newer?.cves).toBe([2, 4, 4][at]);
      const layered = await everything();
      await buildGeneration(trial.dir, addAll([...base, ...changes.slice(0, at + 1).flat()]), true);
      expect(layered).toEqual(await everything());
      await buildGeneration(trial.dir, addAll(base), true);
      for (const earlier of changes.slice(0, at + 1)) await buildGeneration(trial.dir, addAll(earlier));
    }
  });

  it('is carried on with new tables, and taken into the large files when it is much', async () => {
    await buildGeneration(trial.dir, addAll(base));
    await buildGeneration(trial.dir, addAll(changes[0] ?? []));
    const before = await everything();
    const carried = await buildGeneration(trial.dir, (writer) => writer.setKev([]));
    expect(carried.newer?.cves).toBe(2);
    expect(await everything()).toEqual(before);
    const withFixes = await buildGeneration(trial.dir, (writer) =>
      writer.addFixes({ distribution: 'debian', release: '12', package: 'x', fixed: new Map() }),
    );
    expect(withFixes.newer).toBeUndefined();
    expect(await everything()).toEqual(before);
    const many = await buildGeneration(
      trial.dir,
      addAll(base.map((record) => ({ ...record, modified: '2026-07-01T00:00:00.000Z' }))),
    );
    expect(many.newer).toBeUndefined();
    expect(many.counts).toMatchObject({ cves: 201, products: 2 });
  });

  it('puts sources together across both', async () => {
    await buildGeneration(trial.dir, addAll(base));
    const affected = [
      { vendor: 'acme', product: 'sshd', versions: [{ status: 'affected', version: '0', lessThan: '9' }] },
    ];
    await buildGeneration(trial.dir, addAll([readCve5Record(cve5Record('CVE-2025-1003', { affected }))]));
    const sourceOf = async () => {
      const db = await trial.open();
      const record = db.lookup('acme', 'httpd').find(({ id }) => id === 'CVE-2025-1003');
      db.close();
      return record?.source;
    };
    expect(await sourceOf()).toBe('nvd+cve5');
    await buildGeneration(trial.dir, addAll([nvd('CVE-2025-1004', { ...later, end: '1' })]));
    expect(await sourceOf()).toBe('nvd+cve5');
  });

  it.each(newerFiles)('%s that is damaged, cut off or missing is a clear error', async (name) => {
    await buildGeneration(trial.dir, addAll(base));
    await buildGeneration(trial.dir, addAll(changes[0] ?? []));
    const whole = await everything();
    const file = join(trial.dir, trial.generations()[0] ?? '', name);
    const content = readFileSync(file);
    for (let at = 0; at < content.length; at += Math.max(1, Math.floor(content.length / 60))) {
      const bytes = Buffer.from(content);
      bytes[at] = (bytes[at] ?? 0) ^ 0x01;
      writeFileSync(file, bytes);
      const responses = await everything().catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'conflict', message: expect.stringMatching(/damaged/) });
        return whole;
      });
      expect(responses).toEqual(whole);
    }
    truncateSync(file, content.length - 1);
    await expect(everything()).rejects.toThrow(/damaged/);
    if (name === 'newer-records.bin')
      await expect(buildGeneration(trial.dir, addAll(changes[1] ?? []))).rejects.toThrow(/damaged/);
    rmSync(file);
    await expect(everything()).rejects.toThrow(/damaged/);
  });
});

describe('the writer', () => {
  it('is one at a time', async () => {
    const writer = GenerationWriter.open(trial.dir);
    expect(() => GenerationWriter.open(trial.dir)).toThrow(/Another import or sync .* in progress/);
    writer.close();
    GenerationWriter.open(trial.dir).close();
  });

  it('changes nothing before it commits, and removes what a crash left', async () => {
    await buildGeneration(trial.dir, (writer) => writer.addRecord(nvd('CVE-2026-1000')));
    const writer = GenerationWriter.open(trial.dir);
    writer.addRecord(nvd('CVE-2026-1001'));
    expect(await trial.idsOf('acme', 'httpd')).toEqual(['CVE-2026-1000']);
    writer.close();
    expect(await trial.idsOf('acme', 'httpd')).toEqual(['CVE-2026-1000']);
    writeFileSync(join(trial.dir, 'mine.txt'), '');
    const leftovers = ['.staging-0123456789ab', '20200101T000000Z-abcdef'];
    for (const name of leftovers) writeFileSync(join(trial.dir, name), '');
    GenerationWriter.open(trial.dir).close();
    expect(readdirSync(trial.dir).filter((name) => leftovers.includes(name))).toEqual([]);
    expect(existsSync(join(trial.dir, 'mine.txt'))).toBe(true);
  });

  it('comes back to a checkpoint', async () => {
    const manifest = await buildGeneration(trial.dir, (writer) => {
      writer.addRecord(nvd('CVE-2026-1000'));
      const before = writer.checkpoint();
      writer.addRecord(nvd('CVE-2026-1001'));
      writer.setKev([{ id: 'CVE-2026-1001', added: '2026-11-19', ransomware: false }]);
      writer.addFixes({ distribution: 'debian', release: '12', package: 'x', fixed: new Map() });
      writer.rollBack(before);
      writer.addRecord(nvd('CVE-2026-1002'));
    });
    expect(manifest.counts).toMatchObject({ cves: 2, kev: 0, fixes: 0 });
    expect(manifest.distributions).toEqual([]);
    expect(await trial.idsOf('acme', 'httpd')).toEqual(['CVE-2026-1000', 'CVE-2026-1002']);
  });

  it('can be broken off while it builds', async () => {
    await buildGeneration(trial.dir, (writer) => writer.addRecord(nvd('CVE-2026-1000')));
    const writer = GenerationWriter.open(trial.dir);
    for (let index = 0; index < 2000; index++) writer.addRecord(nvd(`CVE-2026-${2000 + index}`));
    const stop = new AbortController();
    const commit = writer.commit({ sources: {}, synced: false, signal: stop.signal });
    stop.abort();
    await expect(commit).rejects.toThrow();
    writer.close();
    expect(await trial.idsOf('acme', 'httpd')).toEqual(['CVE-2026-1000']);
    expect(trial.generations()).toHaveLength(1);
  });
});
