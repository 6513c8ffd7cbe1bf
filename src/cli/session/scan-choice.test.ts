import { describe, expect, it } from 'vitest';
import type { ListQuery, ScanList } from '../../actions/scans/list-scans.ts';
import type { ListedScan } from '../../domain/listed-scan.ts';
import { chooseScan, createdWithin } from './scan-choice.ts';

/** Lists scans with these ids, newest first, two a page. */
function listing(...ids: string[]) {
  const asked: ListQuery[] = [];
  const list = async (query: ListQuery): Promise<ScanList> => {
    asked.push(query);
    const from = Number(query.cursor ?? 0);
    const scans = ids.slice(from, from + 2).map((scan_id) => ({ scan_id }) as ListedScan);
    const next_cursor = from + 2 < ids.length ? String(from + 2) : null;
    return { scans, total: ids.length, limit: 2, offset: 0, next_cursor, total_is_minimum: false };
  };
  return { list, asked };
}

const ids = ['20261122-221821-189894', '20261122-221447-cd9fca', '20261120-080000-00beef'] as const;

describe('chooseScan', () => {
  it.each([
    ['latest', ids[0]],
    ['20261122-221', null],
    ['20261122-2218', ids[0]],
    ['20261120', ids[2]],
    ['20261122-221447-', ids[1]],
    ['20261122-221447-cd9f', ids[1]],
    ['20270101', null],
    ['20261399', null],
    ['0', null],
    ['', null],
    ['../etc', null],
    ['20261120%', null],
  ])('%s', async (text, expected) => {
    const { list } = listing(...ids);
    if (expected === null) await expect(chooseScan(text, list)).rejects.toThrow(text);
    else expect(await chooseScan(text, list)).toBe(expected);
  });

  it('asks for nothing where the id is whole', async () => {
    const { list, asked } = listing();
    expect(await chooseScan('20200101-000000-abcdef', list)).toBe('20200101-000000-abcdef');
    expect(asked).toEqual([]);
  });

  it('names candidates, newest first and not all of very many', async () => {
    await expect(chooseScan('2026', listing(...ids).list)).rejects.toMatchObject({
      code: 'conflict',
      message: `2026 is the beginning of several ids: ${ids.join(', ')}`,
      details: { candidates: ids },
    });
    const many = Array.from({ length: 50 }, (_, n) => `20261122-2218${10 + n}-189894`);
    await expect(chooseScan('20261122', listing(...many).list)).rejects.toMatchObject({
      message: expect.stringMatching(/-189894, \.\.\.$/),
      details: { candidates: many.slice(0, 5) },
    });
  });

  it('takes an old short id before longer ones that begin with it', async () => {
    const { list } = listing('20261122-221447-cd9fca', '20261122-221447-cd9f');
    expect(await chooseScan('20261122-221447-cd9f', list)).toBe('20261122-221447-cd9f');
  });

  it('says where ids are when there is no scan', async () => {
    await expect(chooseScan('latest', listing().list)).rejects.toMatchObject({
      message: 'no scan "latest"',
      details: { try: 'portolan workspace list' },
    });
  });
});

describe('createdWithin', () => {
  it.each([
    ['202', undefined, undefined],
    ['2026', '2026-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['20261', '2026-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['20261231', '2026-12-31T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['20261122-2', '2026-11-22T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
    ['20261122-221821-18', '2026-11-22T22:18:21.000Z', '2026-11-22T22:18:22.000Z'],
    ['0026', undefined, undefined],
    ['9999', undefined, undefined],
  ])('%s', (text, since, until) => {
    expect(createdWithin(text)).toEqual(since ? { since, until } : {});
  });
});
