import type { ResultRow } from '../src/domain/result.ts';
import { type SyntheticScan, syntheticScan } from '../src/report/fixtures/synthetic-scan.ts';

/** About 17 records per host: a host, 10 services, 5 to 6 findings. Half of the banners occur once. */
export function largeScan(hosts: number): SyntheticScan {
  const scan = syntheticScan({ hosts, networks: 250, servicesPerHost: 10, findingsPerHost: 5.6, kinds: 400 });
  return { facts: scan.facts, rows: () => distinctBanners(scan.rows()) };
}

async function* distinctBanners(rows: AsyncIterable<ResultRow>): AsyncGenerator<ResultRow> {
  let number = 0;
  for await (const row of rows) {
    const isChanged = row.type === 'port' && ++number % 2 === 0;
    yield isChanged ? { ...row, banner: `${row.banner ?? ''} session ${(number * 7919) % 1_000_003}` } : row;
  }
}
