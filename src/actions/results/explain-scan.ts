import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { Scan } from '../../domain/scan.ts';
import { canonicalAddress } from '../../domain/targets/address.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';
import type { RecordIndexes } from '../record-index/record-indexes.ts';
import type { Explanation, PortEndpoint } from './explain-port.ts';

/** Rules and vulnerability data are loaded for the first explanation, milliseconds. */
const explainMs = 20_000;

/**
 * Explains a host of a scan, or one of its ports, from an index.
 * @throws PortolanError `not_found` if the scan has nothing about the endpoint
 */
export async function explainScan(
  scan: Scan,
  record: ScanRecord,
  place: PortEndpoint,
  config: Config,
  indexes: RecordIndexes,
  signal?: AbortSignal,
): Promise<Explanation> {
  const { fingerprint, workspace, vulndb } = config;
  const host = canonicalAddress(place.host) ?? place.host.toLowerCase();
  if (place.protocol !== null && place.port === null)
    throw new PortolanError('invalid_request', 'protocol needs a port', {
      fields: [{ field: 'protocol', reason: 'needs a port' }],
    });
  return await indexes.request(
    indexes.scan(scan.scan_id, record),
    {
      kind: 'explain',
      scanId: scan.scan_id,
      endpoint: { ...place, host },
      config: { fingerprint, workspace, vulndb },
    },
    signal,
    explainMs,
  );
}
