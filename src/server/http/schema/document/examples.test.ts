import { expect, it } from 'vitest';
import type { ApiDocument, ApiSchema } from './api-document.ts';
import { addExamples } from './examples.ts';

function exampleOf(schema: ApiSchema, schemas: Record<string, ApiSchema> = {}): unknown {
  const media: { schema: ApiSchema; example?: unknown } = { schema };
  const responses = { 200: { description: 'x', content: { 'application/json': media } } };
  const document: ApiDocument = { paths: { '/x': { get: { responses } } }, components: { schemas } };
  addExamples(document);
  return media.example;
}

it('an example has the required members, with values that are typical for their names', () => {
  const schema: ApiSchema = {
    type: 'object',
    required: ['port', 'protocol', 'created_at', 'mac', 'hosts'],
    properties: {
      port: { type: 'integer', minimum: 1 },
      protocol: { type: 'string', enum: ['udp', 'tcp'] },
      created_at: { type: 'string', format: 'date-time' },
      mac: { type: ['string', 'null'] },
      hosts: { type: 'array', items: { $ref: '#/components/schemas/Host' } },
      optional: { type: 'string' },
    },
  };
  const host: ApiSchema = {
    type: 'object',
    required: ['host', 'up'],
    properties: { host: { type: 'string' }, up: { anyOf: [{ type: 'null' }, { type: 'boolean' }] } },
  };
  expect(exampleOf(schema, { Host: host })).toEqual({
    port: 22,
    protocol: 'tcp',
    created_at: '2026-10-06T14:30:22.118Z',
    mac: '00:00:5e:00:53:01',
    hosts: [{ host: '192.0.2.10', up: false }],
  });
});

it('a typical value that the schema does not allow gives way to one that it does', () => {
  const member = (schema: ApiSchema) =>
    exampleOf({ type: 'object', required: ['status'], properties: { status: schema } });
  expect(member({ enum: ['x', 'y'] })).toEqual({ status: 'x' });
  expect(member({ type: 'integer', minimum: 7 })).toEqual({ status: 7 });
  expect(member({ type: 'string', examples: ['own'] })).toEqual({ status: 'own' });
});
