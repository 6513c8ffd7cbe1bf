import { readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { tryModule } from '../../../test/module-trial.ts';
import { smallResult } from '../../../test/small-result.ts';
import json_reporter from './json_reporter.ts';

it('writes the whole result as one document, readable by the owner only', async () => {
  const results = smallResult();
  await tryModule(json_reporter, { results, config: { pretty: true } });
  const file = `${results.reportsDir}/results.json`;
  const document = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  expect(document).toMatchObject({
    scan_id: '20261121-120000-a1b2c3',
    status: 'completed',
    targets: ['127.0.0.1'],
    summary: { live_hosts: 1, open_ports: 1 },
    results: [{ host: '127.0.0.1', ports: [{ port: 22, banner: 'SSH-2.0-x\r\n' }] }],
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('refuses a path outside the reports folder', async () => {
  const results = smallResult();
  const escape = tryModule(json_reporter, { results, config: { path: '../../escape.json' } });
  await expect(escape).rejects.toThrow('leaves the reports folder');
});
