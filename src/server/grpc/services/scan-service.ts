import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { ConnectRouter } from '@connectrpc/connect';
import { cancelScan } from '../../../actions/scans/cancel-scan.ts';
import { deleteScan } from '../../../actions/scans/delete-scan.ts';
import { listScans } from '../../../actions/scans/list-scans.ts';
import { pauseScan } from '../../../actions/scans/pause-scan.ts';
import { resumeScan } from '../../../actions/scans/resume-scan.ts';
import { showScan } from '../../../actions/scans/show-scan.ts';
import { submitScan } from '../../../actions/scans/submit-scan.ts';
import type { ScanEvent as SourceEvent } from '../../../actions/scans/watch-scan.ts';
import { invalidRequest, PortolanError } from '../../../domain/errors.ts';
import { type Scan as ScanDetail, scanIdPattern } from '../../../domain/scan.ts';
import { originOf } from '../../access/request-id.ts';
import type { RouteContext } from '../../context.ts';
import { tokenCheckMs } from '../../http/event-stream.ts';
import { resultFormatOf } from '../../http/resources/results.ts';
import { scanListQuery } from '../../http/resources/scans.ts';
import { submissionSchema } from '../../http/schema/schemas.ts';
import { choicesOf } from '../../installed.ts';
import { ScanRecords } from '../../scans/scan-records.ts';
import { traceScan } from '../../scans/trace-scan.ts';
import { type AdmittedCall, streaming, unary } from '../call.ts';
import { pinnedChunks } from '../file-chunks.ts';
import {
  DeleteScanResponseSchema,
  ListScansResponseSchema,
  type ScanEvent,
  ScanEventSchema,
  type ScanId,
  ScanSchema,
  ScanService,
  SubmitScanResponseSchema,
  type WatchScanRequest,
} from '../gen/service_pb.ts';
import { readIdempotencyKey } from '../idempotency-key.ts';
import { messageOf, structOf } from '../messages.ts';
import { given, RequestBody, spreadOptions } from '../request-body.ts';

const submissions = new RequestBody(submissionSchema, 'body');
const lists = new RequestBody(scanListQuery, 'query');

export function addScans(router: ConnectRouter, context: RouteContext): void {
  const { workers } = context;
  const detail = (scan: ScanDetail) => messageOf(ScanSchema, workers.freshen(scan));

  router.service(ScanService, {
    submitScan: unary(async (message, call) => {
      const { targets, profile, vuln, notifications, options } = message;
      const more = spreadOptions(options);
      const fields = { ...more, targets, profile: given(profile), vuln, notifications: given(notifications) };
      const submission = submissions.read(fields, call);
      const key = readIdempotencyKey(message.idempotencyKey);
      const order = { ...scanRequestOf(context, call), unknownFields: call.unknownFields };
      const { accepted, replayed } = await submitScan(order, submission, call.token?.id ?? null, key);
      call.resource = { type: 'scan', id: accepted.scan_id };
      if (replayed) call.headers['idempotency-replayed'] = 'true';
      return messageOf(SubmitScanResponseSchema, accepted);
    }, true),

    listScans: unary(async ({ limit, offset, cursor, status, since, tag, q }, call) => {
      const place = { limit, offset: numberOf(offset), cursor };
      const query = lists.read({ ...place, status, since, tag, q }, call);
      const { scans, ...list } = await listScans(call.space.store, query);
      return messageOf(ListScansResponseSchema, {
        ...list,
        scans: scans.map((scan) => workers.freshenListed(scan)),
      });
    }),

    getScan: unary(async (message, call) => detail(await showScan(call.space.store, idOf(message, call)))),

    deleteScan: unary(async (message, call) => {
      const { scan_id } = await showScan(call.space.store, idOf(message, call));
      await deleteScan({ ...context, ...call.space }, scan_id);
      return messageOf(DeleteScanResponseSchema, { scan_id, deleted: true });
    }),

    cancelScan: unary(async (message, call) => {
      const { store } = call.space;
      const onEnd = (scan: ScanDetail) => {
        context.metrics.scanEnded(scan);
        void traceScan({ ...context, store }, scan);
      };
      const order = { ...context, ...call.space, onEnd };
      const scan = await cancelScan(order, idOf(message, call), call.token?.id ?? null);
      return messageOf(ScanSchema, scan);
    }),

    pauseScan: unary(async (message, call) =>
      detail(await pauseScan({ workers, ...call.space }, idOf(message, call), call.token?.id ?? null)),
    ),

    resumeScan: unary(async (message, call) =>
      detail(await resumeScan({ workers, ...call.space }, idOf(message, call))),
    ),

    getResults: streaming(async function* results(message, call) {
      const id = idOf(message, call);
      const format = resultFormatOf(given(message.format) ?? 'json');
      const { store } = call.space;
      yield* pinnedChunks(workers.freshen(await showScan(store, id)), format, call);
    }),

    watchScan: streaming((message, call) => watch(context, message, call)),
  });
}

/** Dependencies of handling a submission. */
export function scanRequestOf(context: RouteContext, { space, id, head }: AdmittedCall) {
  const { workers } = context;
  const choices = choicesOf(space.installed, workers.listeners);
  const origin = originOf(id, head.headers);
  return { ...context, ...space, choices, origin, wake: () => workers.wake() };
}

/** Id in a message; also recorded for the audit log. */
export function idOf({ scanId }: Pick<ScanId, 'scanId'>, call: AdmittedCall): string {
  call.resource = { type: 'scan', id: scanIdPattern.test(scanId) ? scanId : null };
  return scanId;
}

/** Clamps numbers to the largest safe integer, as the REST API does. */
export function numberOf(value: bigint | undefined): number | undefined {
  if (value === undefined) return undefined;
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
}

async function* watch(
  context: RouteContext,
  message: WatchScanRequest,
  call: AdmittedCall,
): AsyncGenerator<ScanEvent> {
  const { space, token, head } = call;
  const id = idOf(message, call);
  const afterRow = readSequence(message.afterSequence);
  const { scan_id } = await showScan(space.store, id);
  const revoked = new AbortController();
  const signal = AbortSignal.any([call.signal, context.closing, revoked.signal]);
  const followed = await new ScanRecords(context, space).follow(scan_id, afterRow, signal);
  const tokenLook = setInterval(() => {
    if (token) void context.admission.holds(head).then((holds) => holds || revoked.abort());
  }, tokenCheckMs);
  let sequence = afterRow;
  try {
    for await (const run of followed.events) {
      for (const event of run) {
        sequence = event.id ?? sequence;
        yield eventMessage(event, sequence);
        if (event.event === 'end') return;
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    followed.close();
    clearInterval(tokenLook);
  }
  if (revoked.signal.aborted) throw new PortolanError('unauthorized', 'The token is no longer valid.');
  if (context.closing.aborted) throw new PortolanError('unavailable', 'The server is shutting down.');
  throw new PortolanError('not_found', `The scan ${scan_id} no longer exists.`);
}

/** @throws PortolanError `invalid_request` */
function readSequence(value: bigint): number {
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  const reason = 'must be the sequence of an event';
  throw invalidRequest(`after_sequence ${reason}`, [{ field: 'after_sequence', reason }]);
}

/** The event of a row has the time of the row. */
function eventMessage({ event, id, data }: SourceEvent, sequence: number): ScanEvent {
  const fields = structOf(data);
  const { timestamp } = fields;
  const written = id !== undefined && typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  const time = timestampFromDate(new Date(Number.isNaN(written) ? Date.now() : written));
  return create(ScanEventSchema, { sequence: BigInt(sequence), type: event, time, data: fields });
}
