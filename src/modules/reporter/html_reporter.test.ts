import { readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { tryModule } from '../../../test/module-trial.ts';
import { smallResult } from '../../../test/small-result.ts';
import html_reporter from './html_reporter.ts';

it('writes one page with its title, the host and its banner, readable by the owner only', async () => {
  const results = smallResult();
  await tryModule(html_reporter, { results, config: { title: 'Branch <office>' } });
  const file = `${results.reportsDir}/results.html`;
  const page = readFileSync(file, 'utf8');
  expect(page).toContain('<h1>Branch &lt;office&gt;</h1>');
  expect(page).toContain('22/tcp');
  expect(page).toContain('<code>SSH-2.0-x</code>');
  expect(page.trimEnd()).toMatch(/<\/html>$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('is named by the scan without a title', async () => {
  const results = smallResult();
  await tryModule(html_reporter, { results });
  expect(readFileSync(`${results.reportsDir}/results.html`, 'utf8')).toContain(
    '<h1>20261121-120000-a1b2c3</h1>',
  );
});
