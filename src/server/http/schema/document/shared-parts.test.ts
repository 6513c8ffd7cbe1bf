import { expect, it } from 'vitest';
import type { ApiDocument, ApiParameter } from './api-document.ts';
import { shareExamples, shareParameters } from './shared-parts.ts';

const parameter = (name: string, type = 'string'): ApiParameter => ({ name, in: 'query', schema: { type } });

function documentOf(parameters: ApiParameter[][], examples: unknown[] = []): ApiDocument {
  const operations = parameters.map((listed, index) => ({
    operationId: `operation${index}`,
    parameters: listed,
    responses: {
      200: { description: 'x', content: { 'application/json': { schema: {}, example: examples[index] } } },
    },
  }));
  const paths = operations.map((operation, index) => [`/${index}`, { get: operation }] as const);
  return { paths: Object.fromEntries(paths), components: {} };
}

it('parameters of several operations stand once; of two with one name, the more frequent', () => {
  const [limit, id, other] = [parameter('limit'), parameter('last-event-id'), parameter('limit', 'number')];
  const document = documentOf([[limit, id], [limit, id], [limit], [other], [other], [parameter('single')]]);
  shareParameters(document);
  expect(document.components.parameters).toEqual({ Limit: limit, LastEventId: id });
  const of = (path: string) => document.paths[path]?.['get']?.parameters;
  expect(of('/0')).toEqual([
    { $ref: '#/components/parameters/Limit' },
    { $ref: '#/components/parameters/LastEventId' },
  ]);
  expect(of('/3')).toEqual([other]);
  expect(of('/5')).toEqual([parameter('single')]);
});

it('long examples of several operations stand once, under the first of them', () => {
  const long = { text: 'x'.repeat(300) };
  const document = documentOf([[], [], []], [{ text: 'x' }, long, long]);
  shareExamples(document);
  expect(document.components.examples).toEqual({ operation1: { value: long } });
  const mediaOf = (path: string) => {
    const response = document.paths[path]?.['get']?.responses['200'];
    return response && 'content' in response ? response.content?.['application/json'] : undefined;
  };
  expect(mediaOf('/0')?.example).toEqual({ text: 'x' });
  for (const path of ['/1', '/2']) {
    expect(mediaOf(path)).toEqual({
      schema: {},
      examples: { example: { $ref: '#/components/examples/operation1' } },
    });
  }
});
