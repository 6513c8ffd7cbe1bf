import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { beforeAll, describe, expect, it } from 'vitest';
import { currentDocument, withoutReferences } from '../../fixtures/api-document.ts';
import { type ApiDocument, type ApiMedia, contentsOf } from './document/api-document.ts';
import { operationGroups } from './operation-names.ts';

/** Clients load the whole description: characters of its JSON. */
const maxLength = 180_000;

interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: { name: string; in: string; description?: string }[];
  requestBody?: { content: Record<string, ApiMedia> };
  responses: Record<string, { description: string; content?: Record<string, ApiMedia> }>;
}

let document: ApiDocument;
let operations: [place: string, operation: Operation][];
beforeAll(async () => {
  document = await currentDocument();
  operations = Object.entries(withoutReferences(document).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => [`${method} ${path}`, operation as Operation] as [string, Operation],
    ),
  );
});

describe('the description of the API', () => {
  it('names every operation once, in a group that is described, with a summary', () => {
    const unnamed = operations.filter(([, { operationId, summary }]) => !operationId || !summary);
    expect(unnamed.map(([place]) => place)).toEqual([]);
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    for (const [place, { tags, description }] of operations) {
      expect([place, tags?.length]).toEqual([place, 1]);
      expect(Object.keys(operationGroups)).toContain(tags?.[0]);
      expect([place, description]).toEqual([
        place,
        expect.stringMatching(/(?:Needs no token|Any valid token will do|Needs the scope `.*`)\.$/),
      ]);
    }
  });

  it('describes every response', () => {
    for (const [place, { responses }] of operations) {
      for (const [status, { description }] of Object.entries(responses)) {
        expect(`${place} ${status}: ${description}`).not.toMatch(/: (?:Default Response|undefined)?$/);
      }
    }
  });

  it('names its schemas, uses all that it names, and is small', () => {
    const text = JSON.stringify(document);
    expect(text.length).toBeLessThan(maxLength);
    const named = Object.keys(document.components.schemas ?? {});
    expect(named).toEqual(
      expect.arrayContaining(['Error', 'Finding', 'Job', 'Meta', 'Record', 'Scan', 'ScanProgress', 'Stage']),
    );
    const unused = Object.entries(document.components)
      .filter(([kind]) => kind !== 'securitySchemes')
      .flatMap(([kind, parts]) => Object.keys(parts).map((name) => `#/components/${kind}/${name}`))
      .filter((reference) => !text.includes(JSON.stringify({ $ref: reference })));
    expect(unused).toEqual([]);
  });

  it('names the server that made it, also without server.public_url', () => {
    expect(document).toMatchObject({ servers: [{ url: '/' }] });
  });

  it('has examples of every body and every response, which their schemas allow', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    for (const [place, operation] of operations) {
      for (const [type, media] of contentsOf(operation).flatMap((content) => Object.entries(content))) {
        const found = examplesOf(media);
        expect([place, type, found.length > 0]).toEqual([place, type, true]);
        for (const example of found) {
          ajv.validate(media.schema ?? true, example);
          expect([place, type, ajv.errors]).toEqual([place, type, null]);
        }
      }
    }
  });
});

function examplesOf({ example, examples = {} }: ApiMedia): unknown[] {
  const named = Object.values(examples).map((one) => (one as { value: unknown }).value);
  return [...(example === undefined ? [] : [example]), ...named];
}
