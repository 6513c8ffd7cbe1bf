import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FeedItem, jsonItems, maxRecordBytes } from './json-feed.ts';

const lists = new Set(['vulnerabilities']);

async function* pieces(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size = 65_536): Promise<FeedItem[]> {
  const items: FeedItem[] = [];
  for await (const item of jsonItems(pieces(text, size), lists)) items.push(item);
  return items;
}

const feed = `\uFEFF{"totalResults": 3, "note":"vulnerabilities", "vulnerabilities" : [
  {"cve":{"id":"A","text":"a \\"quoted] } text\\\\"}}, {"cve":{"list":[1,[2,{"x":[]}]]}},{"ü":"€"}
], "timestamp":"2026-11-21T00:00:00.000", "other":{"vulnerabilities":[1]}}\n`;

describe('jsonItems', () => {
  it.each([1, 2, 3, 7, 64, 65_536])('reads lists element by element, in chunks of %i bytes', async (size) => {
    expect(await read(feed, size)).toEqual([
      { member: 'vulnerabilities', value: { cve: { id: 'A', text: 'a "quoted] } text\\' } } },
      { member: 'vulnerabilities', value: { cve: { list: [1, [2, { x: [] }]] } } },
      { member: 'vulnerabilities', value: { ü: '€' } },
      {
        member: '',
        value: {
          totalResults: 3,
          note: 'vulnerabilities',
          vulnerabilities: [],
          timestamp: '2026-11-21T00:00:00.000',
          other: { vulnerabilities: [1] },
        },
      },
    ]);
  });

  it('reads JSON Lines, a single record and a document that is a list', async () => {
    const ab = [
      { member: '', value: { a: 1 } },
      { member: '', value: { b: ['x'] } },
    ];
    expect(await read('{"a":1}\n{"b":["x"]}\n', 3)).toEqual(ab);
    expect(await read('[{"a":1},{"b":["x"]}]', 5)).toEqual(ab);
    expect(await read('{"vulnerabilities":[]}')).toEqual([{ member: '', value: { vulnerabilities: [] } }]);
    expect(await read('[]')).toEqual([]);
    expect(await read(' \n')).toEqual([]);
  });

  it.each([
    ['{"vulnerabilities":[{"a":1}', /truncated/],
    ['{"vulnerabilities":[{"a":"1', /truncated/],
    ['{"vulnerabilities":[{"a":1}]', /truncated/],
    ['{"a":1', /truncated/],
    ['{"vulnerabilities":[{"a":1},]}', /line 1: expected an object in the list/],
    ['{"vulnerabilities":[{"a":1}{"b":1}]}', /expected an object in the list/],
    ['{"vulnerabilities":[\n1]}', /line 2: expected an object in the list/],
    ['{"vulnerabilities":[{"a":1]]}', /not JSON/],
    ['{"vulnerabilities":[{"a":}]}', /not JSON/],
    ['{"vulnerabilities":[{"a":1}], nonsense}', /not JSON/],
    ['{"a":1}]', /expected a JSON object or list/],
    ['nothing', /expected a JSON object or list/],
    [`{"vulnerabilities":[${'{"a":['.repeat(100)}`, /brackets/],
  ])('refuses %s', async (text, reason) => {
    await expect(read(text)).rejects.toThrow(reason);
    await expect(read(text, 1)).rejects.toThrow(reason);
  });

  it('stops at the cap of a record, of what is around the records, and of blanks', async () => {
    const long = 'x'.repeat(maxRecordBytes);
    await expect(read(`{"vulnerabilities":[{"a":"${long}"}]}`)).rejects.toThrow(/larger than/);
    await expect(read(`{"a":"${long}","vulnerabilities":[]}`)).rejects.toThrow(/larger than/);
    await expect(read(`[${' '.repeat(maxRecordBytes + 1)}`)).rejects.toThrow(/too much white space/);
  });

  it('reads what JSON.parse reads, in any chunks', async () => {
    const records = fc.array(fc.dictionary(fc.string(), fc.jsonValue()));
    await fc.assert(
      fc.asyncProperty(
        records,
        fc.boolean(),
        fc.integer({ min: 1, max: 50 }),
        async (list, indented, size) => {
          const text = JSON.stringify(
            { a: ['vulnerabilities'], vulnerabilities: list },
            null,
            indented ? 2 : 0,
          );
          const items = await read(text, size);
          const same = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;
          expect(items.slice(0, -1).map(({ value }) => value)).toEqual(list.map(same));
          expect(items.at(-1)?.value).toEqual({ a: ['vulnerabilities'], vulnerabilities: [] });
        },
      ),
    );
  });
});
