import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { largeScanRequest, largeScanState } from '../../../domain/fixtures/large-scan.ts';
import { openService, type Service } from '../../fixtures/service.ts';

let service: Service;
beforeAll(async () => {
  service = await openService();
  await service.store.transaction(async (tx) => {
    for (let number = 0; number < 50; number++) {
      const request = largeScanRequest(number);
      await tx.scans.insert(request);
      await tx.scans.update(request.scan_id, largeScanState());
    }
  });
});
afterAll(() => service.close());

const fields = `scan_id status name targets targets_total created_at started_at completed_at profile vuln tags
  tags_total pool priority results severity_counts progress error warnings_total`.split(/\s+/);

describe('a page of 50 large scans', () => {
  it('stays below 100 KiB', async () => {
    const response = await service.app.inject('/api/v1/scans?limit=50');
    expect(response.json().data.scans).toHaveLength(50);
    expect(response.rawPayload.length).toBeLessThan(100 * 1024);
  });

  it('has what lists show and nothing else', async () => {
    const { scans } = (await service.app.inject('/api/v1/scans?limit=50')).json().data;
    const [scan] = scans;
    expect(Object.keys(scan).sort()).toEqual(fields.toSorted());
    expect(scan).toMatchObject({
      targets: [expect.stringMatching(/^0\.long-label/)],
      targets_total: 1000,
      name: expect.stringMatching(/^名前.*…$/),
      tags_total: 32,
      error: { code: 'insufficient_storage' },
      warnings_total: 200,
    });
    expect(Object.keys(scan.error)).toEqual(['code']);
    expect(scan.progress).not.toHaveProperty('rate_history');
  });

  it('leaves everything else to the detail', async () => {
    const { scan_id, targets, name, tags } = largeScanRequest(7);
    const { data } = (await service.app.inject(`/api/v1/scans/${scan_id}`)).json();
    expect(data).toMatchObject({ targets, name, tags, ...largeScanState() });
  });
});
