import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CveRecord } from '../cve-record.ts';
import { cve5Record, epssFeed, kevFeed, nvdPage, nvdRecord } from '../fixtures/feeds.ts';
import { FeedProblem, fileBytes } from './feed-bytes.ts';
import { type FeedSink, importFeed } from './import-feed.ts';

function collector() {
  const got = {
    records: [] as CveRecord[],
    fixes: [] as string[],
    kev: [] as string[],
    epss: [] as string[],
  };
  const sink: FeedSink = {
    addRecord: (record) => got.records.push(record),
    addFixes: (fixes) => got.fixes.push(fixes.package),
    setKev: (entries) => (got.kev = entries.map(({ id }) => id)),
    setEpss: (scores) => (got.epss = scores.map(({ id }) => id)),
  };
  return { got, sink };
}

async function* bytes(content: unknown): AsyncGenerator<Uint8Array> {
  if (content instanceof Uint8Array) yield content;
  else yield Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
}

async function read(content: unknown) {
  const { got, sink } = collector();
  return { report: await importFeed(bytes(content), sink), got };
}

const openssh = { distro: 'debian', release: '12', source: 'openssh', fixedIn: { 'CVE-2026-1000': '1:9' } };

describe('importFeed', () => {
  it('knows a page of NVD, plain and packed, and says which one it is', async () => {
    const page = nvdPage([nvdRecord('CVE-2026-1000'), nvdRecord('CVE-2026-1001')], 7, 4);
    for (const content of [page, gzipSync(JSON.stringify(page))]) {
      const { report, got } = await read(content);
      expect(report).toEqual({
        format: 'nvd',
        accepted: 2,
        refused: 0,
        reasons: [],
        date: '2026-11-20T01:02:03.000Z',
        page: { total: 7, start: 4, count: 2 },
      });
      expect(got.records.map(({ id }) => id)).toEqual(['CVE-2026-1000', 'CVE-2026-1001']);
    }
    expect((await read(nvdPage([]))).report).toMatchObject({ format: 'nvd', accepted: 0 });
  });

  it('knows single records, JSON Lines and feeds of records', async () => {
    const record = nvdRecord('CVE-2026-1000');
    expect((await read(record)).report).toMatchObject({ format: 'nvd', accepted: 1 });
    expect((await read({ cve_items: [record, record] })).report).toMatchObject({
      format: 'nvd',
      accepted: 2,
    });
    const { id, descriptions, configurations } = record;
    const line = JSON.stringify({ id, descriptions, configurations, annotation: {} });
    expect((await read(`${line}\n${line}\n`)).report).toMatchObject({ format: 'overrides', accepted: 2 });
    expect((await read(cve5Record('CVE-2025-1000', {}))).report).toMatchObject({
      format: 'cve5',
      accepted: 1,
    });
  });

  it('knows KEV, EPSS and fixes of a distribution', async () => {
    const kev = await read(kevFeed(['CVE-2026-1000', 'CVE-2026-1001']));
    expect(kev.report).toMatchObject({ format: 'kev', accepted: 2, date: '2026-11-20T15:00:00.000Z' });
    expect(kev.got.kev).toEqual(['CVE-2026-1000', 'CVE-2026-1001']);
    const epss = await read(epssFeed([['CVE-2026-1000', 0.1, 0.2]]));
    expect(epss.report).toMatchObject({ format: 'epss', accepted: 1, date: '2026-11-20' });
    expect(epss.got.epss).toEqual(['CVE-2026-1000']);
    expect((await read({ distro: 'debian', release: '12', packages: [openssh] })).got.fixes).toEqual([
      'openssh',
    ]);
    expect((await read(JSON.stringify(openssh))).got.fixes).toEqual(['openssh']);
  });

  it('leaves out bad records, counts them and names the first ones', async () => {
    const bad = Array.from({ length: 7 }, (_, index) =>
      nvdRecord(`CVE-2026-200${index}`, { modified: 'never' }),
    );
    const { report, got } = await read(nvdPage([...bad, nvdRecord('CVE-2026-1000')]));
    expect(report).toMatchObject({ accepted: 1, refused: 7 });
    expect(report.reasons).toHaveLength(5);
    expect(report.reasons[0]).toBe('CVE-2026-2000: lastModified must be a date and time');
    expect(got.records).toHaveLength(1);
    const odd = { ...nvdRecord('x'), id: '\u001b[31m' };
    expect((await read(nvdPage([odd, nvdRecord('CVE-2026-1000')]))).report.reasons).toEqual([
      'a record: id must be a CVE id',
    ]);
  });

  it.each([
    ['nothing', '', /is empty/],
    ['a page of HTML', '<html>', /neither JSON nor/],
    ['JSON of another kind', { hello: 'world' }, /no known format/],
    ['NVD JSON 1.1', { CVE_Items: [{}] }, /NVD JSON 1.1/],
    [
      'a feed without a good record',
      nvdPage([nvdRecord('CVE-1')]),
      /no valid record: a record|no valid record: CVE-1/,
    ],
    [
      'a feed that is cut off',
      JSON.stringify(nvdPage([nvdRecord('CVE-2026-1000')])).slice(0, -2),
      /is truncated/,
    ],
    ['EPSS without a row', '#model_version:x\ncve,epss,percentile\nnone\n', /no EPSS row: line 3/],
    [
      'a packed feed that is cut off',
      gzipSync(JSON.stringify(nvdPage([nvdRecord('CVE-2026-1000')]))).subarray(0, 90),
      /is truncated/,
    ],
  ])('refuses %s as a whole', async (_, content, reason) => {
    await expect(read(content)).rejects.toThrow(reason);
  });

  it('stops at the cap of a feed', async () => {
    const { sink } = collector();
    const page = JSON.stringify(nvdPage([nvdRecord('CVE-2026-1000')]));
    await expect(importFeed(bytes(gzipSync(page)), sink, 1000)).rejects.toThrow(
      'is larger than 1KB when decompressed',
    );
  });
});

describe('hostile feeds', () => {
  const feeds = [
    JSON.stringify(nvdPage([nvdRecord('CVE-2026-1000')])),
    JSON.stringify(
      cve5Record('CVE-2025-1000', {
        affected: [{ vendor: 'a', product: 'b', versions: [{ status: 'affected', version: '1' }] }],
      }),
    ),
    JSON.stringify(kevFeed(['CVE-2026-1000'])),
    epssFeed([['CVE-2026-1000', 0.1, 0.2]]),
    JSON.stringify({ packages: [openssh] }),
  ];
  /** Values that replace any value of a document. */
  const odd = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('__proto__', -1, 1e308, '\u0000', []));

  it('with any bytes changed are read or refused, and nothing else', async () => {
    const change = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...feeds), change, fc.boolean(), async (text, changes, packed) => {
        const content = packed ? gzipSync(text) : Buffer.from(text);
        for (const [at, byte] of changes) content[at % content.length] = byte;
        await read(content).catch((error: unknown) => {
          if (!(error instanceof FeedProblem)) throw error;
        });
      }),
      { numRuns: 3000 },
    );
  });

  it('with any value of another kind are read or refused, and nothing else', async () => {
    const documents = feeds.filter((text) => text.startsWith('{')).map((text) => JSON.parse(text) as unknown);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...documents), fc.nat(), odd, async (document, place, value) => {
        await read(JSON.stringify(replaced(document, place, value))).catch((error: unknown) => {
          if (!(error instanceof FeedProblem)) throw error;
        });
      }),
      { numRuns: 3000 },
    );
  });
});

/** A copy with its nth value replaced. */
function replaced(document: unknown, place: number, value: unknown): unknown {
  let count = 0;
  JSON.stringify(document, (_, member: unknown) => {
    count++;
    return member;
  });
  let at = 0;
  const text = JSON.stringify(document, (_, member: unknown) => (at++ === place % count ? value : member));
  return JSON.parse(text ?? 'null');
}

const data = process.env['PORTOLAN_REFERENCE_DATA'];

describe('feeds as their publishers make them', () => {
  if (!data || !existsSync(data))
    process.stderr.write('PORTOLAN_REFERENCE_DATA is not set: real feeds are not read\n');

  it.skipIf(!data || !existsSync(data))('are read, and what is refused is no CVE', async () => {
    const folder = data ?? '';
    const { got, sink } = collector();
    const files = [
      ...readdirSync(join(folder, 'nvd'))
        .filter((name) => /^(?:nvd20-.*\d|nvd20-verbatim|overrides-.*)\.jsonl?$/.test(name))
        .map((name) => `nvd/${name}`),
      ...readdirSync(join(folder, 'cve5/cves')).map((name) => `cve5/cves/${name}`),
      'kev/known_exploited_vulnerabilities.json',
      'epss/epss-sample.csv',
      'distro-fixes/debian-12-fixes.json',
    ];
    const reasons: string[] = [];
    for (const name of files) {
      const report = await importFeed(fileBytes(join(folder, name)), sink);
      reasons.push(...report.reasons);
    }
    expect(got.records.length).toBeGreaterThan(4000);
    expect([got.kev.length > 1000, got.epss.length > 500, got.fixes.length > 20]).toEqual([true, true, true]);
    expect(reasons.filter((reason) => !reason.endsWith('id must be a CVE id'))).toEqual([]);
  });
});
