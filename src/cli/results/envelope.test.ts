import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unwrapData } from './envelope.ts';

async function unwrap(text: string, size: number): Promise<string> {
  const chunks = (async function* () {
    for (let index = 0; index < text.length; index += size) yield text.slice(index, index + size);
  })();
  let data = '';
  for await (const chunk of unwrapData(chunks)) data += chunk;
  return data;
}

describe('unwrapData', () => {
  it('gives exactly the value of data, however the text is cut', async () => {
    const data = { results: [{ banner: 'a}"]{\\"' }, [], {}], n: { deep: [[1, 2]] } };
    for (const indent of [0, 2]) {
      const text = JSON.stringify({ data, meta: { timestamp: 'x' } }, null, indent);
      for (const size of [1, 2, 7, 10_000]) expect(JSON.parse(await unwrap(text, size))).toEqual(data);
    }
  });

  it('holds for any object', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.integer({ min: 1, max: 9 }),
        async (data, size) => {
          const expected = JSON.parse(JSON.stringify(data));
          expect(JSON.parse(await unwrap(JSON.stringify({ data, meta: {} }), size))).toEqual(expected);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('reports an answer that breaks off or is something else', async () => {
    await expect(unwrap('{"data":{"a":[1', 4)).rejects.toThrow('ended before');
    await expect(unwrap(`<html>${' '.repeat(300)}`, 50)).rejects.toThrow('does not start');
    await expect(unwrap('', 1)).rejects.toThrow('ended before');
  });
});
