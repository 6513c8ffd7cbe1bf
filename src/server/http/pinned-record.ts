import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Scan } from '../../domain/scan.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';
import type { ScanFile } from '../../workspace/result-store/fetched-scans.ts';

/** Record of a scan, held until the response has been sent. */
export async function pinnedRecord(
  request: FastifyRequest,
  reply: FastifyReply,
  scan: Pick<Scan, 'scan_id' | 'status'>,
  part?: ScanFile,
): Promise<ScanRecord> {
  const { record, release } = await request.space.records.hold(scan, part);
  if (reply.raw.destroyed) release();
  else reply.raw.once('close', release);
  return record;
}
