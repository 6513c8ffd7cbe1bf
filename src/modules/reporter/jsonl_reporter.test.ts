import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { tryModule } from '../../../test/module-trial.ts';
import { smallResult } from '../../../test/small-result.ts';
import jsonl_reporter from './jsonl_reporter.ts';

it('writes one record a line, the summary last', async () => {
  const results = smallResult();
  await tryModule(jsonl_reporter, { results, config: { path: 'mine.jsonl' } });
  const lines = readFileSync(`${results.reportsDir}/mine.jsonl`, 'utf8').trim().split('\n');
  const types = lines.map((line) => (JSON.parse(line) as { type: string }).type);
  expect(types).toEqual(['host', 'port', 'summary']);
});
