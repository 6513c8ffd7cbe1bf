import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText, host, hostileRows, port, stream, summary, text } from '../../../test/result-rows.ts';
import type { ResultRow } from '../../domain/result.ts';
import { renderJsonl } from './jsonl.ts';

/** Rejects invalid UTF-8. */
const strict = new TextDecoder('utf-8', { fatal: true });

describe('JSONL', () => {
  it('is one complete object a line, the summary last', async () => {
    const lines = (await text(renderJsonl(stream([host, port(22)]), summary))).split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(['host', 'port', 'summary']);
    expect(JSON.parse(lines[1] as string)).toMatchObject({
      service: null,
      banner: null,
      tls: null,
      fingerprints: [],
    });
    expect(lines[2]).toMatch(/^\{"type":"summary","timestamp":"[^"]+","host":null,/);
  });

  it('keeps one record one line for any text in any field', async () => {
    await fc.assert(
      fc.asyncProperty(anyText(), async (said) => {
        const rows = hostileRows(said);
        const written = await text(renderJsonl(stream(rows), summary));
        const lines = written.split(/\r\n|[\n\r\u2028\u2029]/);
        expect(lines.pop()).toBe('');
        expect(lines).toHaveLength(rows.length + 1);
        for (const line of lines) expect(() => strict.decode(Buffer.from(line))).not.toThrow();
        const records = lines.map((line) => JSON.parse(line));
        expect(records.map(({ type }) => type)).toEqual([...rows.map(({ type }) => type), 'summary']);
        expect(records[2].attributes.http.title).toBe(said.toWellFormed());
      }),
    );
  });

  it('keeps one record one line for any text of a target', async () => {
    await fc.assert(
      fc.asyncProperty(anyText(), anyText(), async (banner, name) => {
        const rows: ResultRow[] = [
          { ...host, hostnames: [name] },
          port(22, { banner, attributes: { [name]: banner } }),
        ];
        const written = await text(renderJsonl(stream(rows), summary));
        const lines = written.split(/\r\n|[\n\r\u2028\u2029]/);
        expect(lines).toHaveLength(4);
        expect(Buffer.from(written).toString()).toBe(written);
        expect(written).not.toMatch(/(?<!\\)(?:\\\\)*\\ud[89a-f]/);
        expect(JSON.parse(lines[1] as string).banner).toBe(banner.toWellFormed());
      }),
    );
  });
});
