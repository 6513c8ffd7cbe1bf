import { readdirSync, readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { tryModule } from '../../../test/module-trial.ts';
import { smallResult } from '../../../test/small-result.ts';
import pdf_reporter from './pdf_reporter.ts';

it.each([
  [{}, '[0 0 595.28 841.89]'],
  [{ paper: 'letter' }, '[0 0 612 792]'],
])('writes a PDF on the paper of %j, readable by the owner only', async (config, box) => {
  const results = smallResult();
  await tryModule(pdf_reporter, { results, config });
  const file = `${results.reportsDir}/results.pdf`;
  const text = readFileSync(file, 'latin1');
  expect(text.startsWith('%PDF-')).toBe(true);
  expect(text.trimEnd().endsWith('%%EOF')).toBe(true);
  expect(text).toContain(`/MediaBox ${box}`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('refuses another paper', async () => {
  const trial = tryModule(pdf_reporter, { results: smallResult(), config: { paper: 'a3' } });
  await expect(trial).rejects.toThrow('paper');
});

it('names a template that does not exist, and writes nothing', async () => {
  const results = smallResult();
  const trial = tryModule(pdf_reporter, { results, config: { template: 'corporate' } });
  await expect(trial).rejects.toThrow('corporate');
  expect(() => readdirSync(results.reportsDir)).toThrow('ENOENT');
});

it('leaves no half file when the scan cannot be read to its end', async () => {
  const results = smallResult();
  const broken = {
    ...results,
    async *rows() {
      yield* results.rows();
      throw new Error('the disk is gone');
    },
  };
  await expect(tryModule(pdf_reporter, { results: broken })).rejects.toThrow('the disk is gone');
  expect(() => readdirSync(results.reportsDir)).not.toThrow('results');
  expect(readdirSync(results.reportsDir)).toEqual([]);
});
