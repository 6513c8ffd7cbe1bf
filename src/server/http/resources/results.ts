import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  type ExportFormat,
  type ExportOptions,
  exportFormats,
  exportScan,
} from '../../../actions/results/export-scan.ts';
import { invalidRequest, PortolanError } from '../../../domain/errors.ts';
import type { Scan } from '../../../domain/scan.ts';
import { reportPolicy } from '../../../report/html/policy.ts';
import { type ResultFormat, resultFormats } from '../../../scan-run/results/stream-results.ts';
import type { ScanRecord } from '../../../workspace/record/scan-record.ts';
import { type Meta, metaOf } from '../schema/envelope.ts';

export const resultQuery = Type.Object({
  format: Type.Optional(Type.String({ description: 'json (default), jsonl or csv; overrides Accept' })),
});

/** The format of `format=`, else of `Accept`. @throws PortolanError `invalid_request` or `not_acceptable` */
export function formatOf(request: FastifyRequest): ResultFormat {
  const { format } = request.query as { format?: string };
  return format === undefined ? acceptedFormat(request.headers.accept) : resultFormatOf(format);
}

/** @throws PortolanError `invalid_request`, listing the formats */
export function resultFormatOf(format: string): ResultFormat {
  if (isResultFormat(format)) return format;
  const reason = `must be one of ${resultFormats.join(', ')}`;
  throw invalidRequest(`format ${reason}`, [{ field: 'format', reason }]);
}

function isResultFormat(text: string): text is ResultFormat {
  return (resultFormats as readonly string[]).includes(text);
}

function acceptedFormat(accept: string | undefined): ResultFormat {
  if (accept === undefined) return 'json';
  const ranges = accept
    .split(',')
    .map(readRange)
    .sort((a, b) => b.quality - a.quality);
  const refused = new Set(ranges.filter(({ quality }) => quality === 0).map(({ type }) => type));
  for (const { type, quality } of ranges) {
    const found = quality > 0 && resultFormats.find((format) => matches(type, mediaType(format), refused));
    if (found) return found;
  }
  throw new PortolanError(
    'not_acceptable',
    'Supported types: application/json, application/x-ndjson, text/csv.',
  );
}

function readRange(text: string): { type: string; quality: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = Number(parameters.find((part) => part.startsWith('q='))?.slice(2) ?? 1);
  return { type, quality: Number.isFinite(quality) ? quality : 0 };
}

function matches(range: string, type: string, refused: ReadonlySet<string>): boolean {
  if (refused.has(type)) return false;
  return range === '*/*' || range === type || range === `${type.split('/')[0]}/*`;
}

function mediaType(format: ResultFormat): string {
  return exportFormats[format].mediaType.split(';')[0] as string;
}

/** Streams a scan as a download. @param report its options, and who renders it */
export async function sendScanFile(
  request: FastifyRequest,
  reply: FastifyReply,
  scan: Scan,
  record: ScanRecord,
  format: ExportFormat,
  report: Omit<ExportOptions, 'signal'> = {},
): Promise<FastifyReply> {
  if (request.method === 'HEAD') return withFileHeaders(reply, scan, format).send(Readable.from([]));
  const gone = new AbortController();
  if (reply.raw.destroyed) gone.abort();
  reply.raw.once('close', () => gone.abort());
  const { signal } = gone;
  try {
    const options = { ...report, signal };
    const content = await exportScan(scan, record, format, request.space.observer, options);
    const body =
      format === 'json' ? withEnvelope(content as AsyncIterable<string>, metaOf(request)) : content;
    return withFileHeaders(reply, scan, format).send(Readable.from(body, { objectMode: false }));
  } catch (error) {
    // The client is gone.
    if (signal.aborted) return reply.hijack();
    throw error;
  }
}

function withFileHeaders(reply: FastifyReply, { scan_id, status }: Scan, format: ExportFormat): FastifyReply {
  const { mediaType, extension } = exportFormats[format];
  if (format === 'html') reply.header('content-security-policy', `${reportPolicy}; frame-ancestors 'none'`);
  return reply
    .header('content-type', mediaType)
    .header('content-disposition', `attachment; filename="${scan_id}.${extension}"`)
    .header('x-scan-status', status);
}

/** The `json` format. */
export async function* withEnvelope(data: AsyncIterable<string>, meta: Meta): AsyncIterable<string> {
  yield '{"data":';
  yield* data;
  yield `,"meta":${JSON.stringify(meta)}}\n`;
}
