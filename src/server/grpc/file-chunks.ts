import { create } from '@bufbuild/protobuf';
import {
  type ExportFormat,
  type ExportOptions,
  exportFormats,
  exportScan,
} from '../../actions/results/export-scan.ts';
import type { Scan } from '../../domain/scan.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';
import type { ScanFile } from '../../workspace/result-store/fetched-scans.ts';
import { withEnvelope } from '../http/resources/results.ts';
import type { AdmittedCall } from './call.ts';
import { type Chunk, ChunkSchema } from './gen/service_pb.ts';

/** Size of one message, bytes. */
const maxChunkBytes = 64 * 1024;

/** File of a scan, from the workspace or the result store. */
export async function* pinnedChunks(
  scan: Scan,
  format: ExportFormat,
  call: AdmittedCall,
  part?: ScanFile,
  report: Omit<ExportOptions, 'signal'> = {},
): AsyncGenerator<Chunk> {
  const { record, release } = await call.space.records.hold(scan, part);
  try {
    yield* fileChunks(scan, record, format, call, report);
  } finally {
    release();
  }
}

/** A scan as a file, byte for byte as the REST API sends it. The first chunk has the file name. */
async function* fileChunks(
  scan: Scan,
  record: ScanRecord,
  format: ExportFormat,
  call: AdmittedCall,
  report: Omit<ExportOptions, 'signal'>,
): AsyncGenerator<Chunk> {
  const { mediaType, extension } = exportFormats[format];
  let facts: Partial<Pick<Chunk, 'contentType' | 'filename' | 'scanStatus'>> = {
    contentType: mediaType,
    filename: `${scan.scan_id}.${extension}`,
    scanStatus: scan.status,
  };
  const content = await exportScan(scan, record, format, call.space.observer, {
    ...report,
    signal: call.signal,
  });
  const meta = { timestamp: new Date().toISOString(), request_id: call.id };
  const body = format === 'json' ? withEnvelope(content as AsyncIterable<string>, meta) : content;
  for await (const data of chunkPieces(body)) {
    yield create(ChunkSchema, { data, ...facts });
    facts = {};
  }
  if (facts.filename !== undefined) yield create(ChunkSchema, facts);
}

/** Combines pieces into messages of `maxChunkBytes`. */
export async function* chunkPieces(
  content: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const part of content) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part;
    held.push(bytes);
    size += bytes.length;
    if (size < maxChunkBytes) continue;
    const all = Buffer.concat(held);
    let at = 0;
    for (; all.length - at >= maxChunkBytes; at += maxChunkBytes) yield all.subarray(at, at + maxChunkBytes);
    held = at < all.length ? [all.subarray(at)] : [];
    size = all.length - at;
  }
  if (size > 0) yield Buffer.concat(held);
}
