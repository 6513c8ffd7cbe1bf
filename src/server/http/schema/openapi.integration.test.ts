import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openService, type Service } from '../../fixtures/service.ts';
import { operationGroups } from './operation-names.ts';

interface Operation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  parameters?: { name: string; in: string; description?: string }[];
  responses: Record<string, { description: string }>;
}

let service: Service;
let operations: [place: string, operation: Operation][];
beforeAll(async () => {
  service = await openService();
  const document = (await service.app.inject({ url: '/api/v1/openapi.json' })).json() as {
    paths: Record<string, Record<string, Operation>>;
  };
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => [`${method} ${path}`, operation] as [string, Operation],
    ),
  );
});
afterAll(() => service.close());

describe('the description of the API', () => {
  it('names every operation once, in a group that is described, with a summary', () => {
    const unnamed = operations.filter(([, { operationId, summary }]) => !operationId || !summary);
    expect(unnamed.map(([place]) => place)).toEqual([]);
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    for (const [place, { tags }] of operations) {
      expect([place, tags?.length]).toEqual([place, 1]);
      expect(Object.keys(operationGroups)).toContain(tags?.[0]);
    }
  });

  it('describes every response', () => {
    for (const [place, { responses }] of operations) {
      for (const [status, { description }] of Object.entries(responses)) {
        expect(`${place} ${status}: ${description}`).not.toMatch(/: (?:Default Response|undefined)?$/);
      }
    }
  });
});
