import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { storeEngines } from '../../../test/store-engines.ts';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import type { ScanRequest, ScanStatus } from '../../domain/scan.ts';
import type { Store } from '../open.ts';

let store: Store;
let scans = 0;

/** The next scan; as a word, its id. */
async function scan(more: Partial<ScanRequest> = {}, status: ScanStatus = 'completed'): Promise<string> {
  const second = String(++scans).padStart(2, '0');
  const scan_id = `20260101-0000${second}-aaaaaa`;
  const created_at = `2026-01-01T00:00:${second}.000Z`;
  await store.scans.insert(scanRequest({ scan_id, created_at, ...more }));
  await store.scans.update(scan_id, { status, completed_at: created_at });
  return scan_id;
}

const baselineOf = async (scanId: string) => (await store.scans.baselineOf(scanId))?.scan_id ?? null;

describe.each(storeEngines())('the baseline of a scan in $name', (engine) => {
  if (engine.skip !== null) return void it.skip(engine.skip, () => {});
  beforeAll(() => engine.begin());
  beforeEach(async () => {
    scans = 0;
    store = await engine.empty();
  });
  afterAll(() => engine.end());

  it('is the last completed one of the same name, whatever else is different', async () => {
    const first = await scan({ name: 'office', targets: ['10.0.0.1'], vuln: true });
    await scan({ name: 'office' }, 'failed');
    await scan({ name: 'other' });
    await scan();
    expect(await baselineOf(await scan({ name: 'office' }))).toBe(first);
  });

  it('is else the last completed one of the same targets, ports, profile and evaluation', async () => {
    const wanted: Partial<ScanRequest> = { targets: ['10.0.0.1', '10.0.0.2'], ports: '22', vuln: true };
    const first = await scan({ ...wanted, targets: ['10.0.0.2', '10.0.0.1'] });
    await scan({ ...wanted, targets: ['10.0.0.1', '10.0.0.3'] });
    await scan({ ...wanted, ports: '80' });
    await scan({ ...wanted, ports: null });
    await scan({ ...wanted, profile: 'deep' });
    await scan({ ...wanted, dag: 'own' });
    await scan({ ...wanted, vuln: false });
    await scan(wanted, 'failed');
    await scan(wanted, 'running');
    const last = await scan(wanted);
    expect(await baselineOf(last)).toBe(first);
    expect(await baselineOf(await scan({ ...wanted, name: 'new name' }))).toBe(last);
  });

  it('is none for a first one, and for none', async () => {
    const first = await scan();
    await scan();
    expect(await baselineOf(first)).toBeNull();
    expect(await baselineOf('20260101-000000-ffffff')).toBeNull();
  });
});
