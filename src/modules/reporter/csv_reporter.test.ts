import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { tryModule } from '../../../test/module-trial.ts';
import { smallResult } from '../../../test/small-result.ts';
import csv_reporter from './csv_reporter.ts';

it('writes a header and one row per port', async () => {
  const results = smallResult();
  await tryModule(csv_reporter, { results });
  const text = readFileSync(`${results.reportsDir}/results.csv`, 'utf8');
  expect(text.split('\r\n').slice(0, 2)).toEqual([
    'host,port,protocol,state,service,version,product,cpe,vulnerability_ids,max_severity,banner,unidentified_reason,class,producers',
    '127.0.0.1,22,tcp,open,,,,,,,SSH-2.0-x,,,',
  ]);
});
