import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { currentDocument, hashLine } from '../../fixtures/api-document.ts';

const types = join(import.meta.dirname, '../../../../ui/src/api/schema.d.ts');

it('the types of the Web UI are made from the current description of the API', async () => {
  const [first] = (await readFile(types, 'utf8')).split('\n', 1);
  expect(first, 'the API has changed: run npm run ui:types').toBe(hashLine(await currentDocument()));
});
