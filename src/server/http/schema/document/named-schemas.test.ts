import { expect, it } from 'vitest';
import type { ApiDocument, ApiSchema } from './api-document.ts';
import { nameSchemas } from './named-schemas.ts';

const object = (properties: Record<string, ApiSchema>, more: ApiSchema = {}): ApiSchema => ({
  type: 'object',
  properties,
  ...more,
});

function documentOf(...schemas: ApiSchema[]): ApiDocument {
  const responses = schemas.map((schema, index) => [
    String(200 + index),
    { description: 'x', content: { 'application/json': { schema } } },
  ]);
  return { paths: { '/x': { get: { responses: Object.fromEntries(responses) } } }, components: {} };
}

it('a schema with a name stands once in the components, also within others', () => {
  const inner = object({ id: { type: 'string' } }, { title: 'Inner' });
  const outer = object(
    { inner, list: { type: 'array', items: inner }, either: { anyOf: [inner, { type: 'null' }] } },
    { title: 'Outer' },
  );
  const document = documentOf(object({ data: outer }), inner);
  nameSchemas(document);
  const reference = { $ref: '#/components/schemas/Inner' };
  expect(document.components.schemas).toEqual({
    Inner: object({ id: { type: 'string' } }),
    Outer: object({
      inner: reference,
      list: { type: 'array', items: reference },
      either: { anyOf: [reference, { type: 'null' }] },
    }),
  });
  expect(document.paths['/x']?.['get']?.responses).toMatchObject({
    200: {
      content: { 'application/json': { schema: object({ data: { $ref: '#/components/schemas/Outer' } }) } },
    },
    201: { content: { 'application/json': { schema: reference } } },
  });
});

it('a property called title, and a title that is a sentence, are no names', () => {
  const schema = object({ title: { type: 'string' } }, { title: 'the title of something' });
  const document = documentOf(schema);
  nameSchemas(document);
  expect(document.components.schemas).toEqual({});
});

it('two different schemas with one name are an error; examples may differ', () => {
  const one = object({ id: { type: 'string' } }, { title: 'One' });
  expect(() => nameSchemas(documentOf(one, object({}, { title: 'One' })))).toThrow(
    'two different schemas are named One',
  );
  const document = documentOf(one, { ...one, examples: [{ id: 'x' }] });
  nameSchemas(document);
  expect(document.components.schemas?.['One']?.examples).toEqual([{ id: 'x' }]);
});
