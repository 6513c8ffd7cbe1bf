import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { yamlOfJson } from './yaml-text.ts';

async function yaml(json: string, pieceLength = json.length): Promise<string> {
  async function* pieces() {
    for (let start = 0; start < json.length; start += pieceLength)
      yield json.slice(start, start + pieceLength);
  }
  let text = '';
  for await (const part of yamlOfJson(pieces())) text += part;
  return text;
}

describe('YAML of JSON', () => {
  it('is in block form, and texts that a reader could take for something else are quoted', async () => {
    const value = {
      host: '192.0.2.1',
      names: [],
      os: { family: 'linux', version: '12' },
      ports: [
        { port: 22, banner: 'SSH-2.0\r\n', open: true, tls: null, lists: [[1], []], facts: {} },
        { port: 80, banner: 'no' },
      ],
      last: 'on',
    };
    expect(await yaml(JSON.stringify(value))).toBe(`host: "192.0.2.1"
names: []
os:
  family: linux
  version: "12"
ports:
  - port: 22
    banner: "SSH-2.0\\r\\n"
    open: true
    tls: null
    lists:
      - - 1
      - []
    facts: {}
  - port: 80
    banner: "no"
last: "on"
`);
  });

  it('means the same for any value, in pieces of any length, one line a text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue({ maxDepth: 4 }),
        fc.integer({ min: 1, max: 9 }),
        async (value, length) => {
          const json = JSON.stringify(value);
          const text = await yaml(json, length);
          expect(parse(text)).toEqual(JSON.parse(json));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('holds no character that cannot be seen, and no half of a pair', async () => {
    const trouble = '\x1b[2J\x9b\u202e\u2028\u{e0041}\ud800 # x: - y\0';
    const text = await yaml(JSON.stringify({ trouble, list: [trouble] }));
    expect(text).not.toMatch(/[^\P{C}\n]/u);
    expect((parse(text) as { trouble: string }).trouble).toBe(trouble.toWellFormed());
  });
});
