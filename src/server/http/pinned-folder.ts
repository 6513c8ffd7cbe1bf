import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Scan } from '../../domain/scan.ts';
import type { ScanFile } from '../../workspace/result-store/fetched-scans.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';

/** Folder of a scan, pinned until the response has been sent, see `ScanFolders.hold`. */
export async function pinnedFolder(
  request: FastifyRequest,
  reply: FastifyReply,
  scan: Pick<Scan, 'scan_id' | 'status'>,
  part?: ScanFile,
): Promise<ScanFolder> {
  const { folder, release } = await request.space.holdFolder(scan, part);
  if (reply.raw.destroyed) release();
  else reply.raw.once('close', release);
  return folder;
}
