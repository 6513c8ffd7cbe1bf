import type { ConnectRouter } from '@connectrpc/connect';
import { exportFormatOf } from '../../../actions/results/export-scan.ts';
import { checkReportWishes } from '../../../actions/results/report-order.ts';
import { showScan } from '../../../actions/scans/show-scan.ts';
import type { Scan } from '../../../domain/scan.ts';
import type { RouteContext } from '../../context.ts';
import { exportQuery, garbageRequest, partOf } from '../../http/resources/workspace.ts';
import { orderExport } from '../../results/order-export.ts';
import { type AdmittedCall, streaming, unary } from '../call.ts';
import { pinnedChunks } from '../file-chunks.ts';
import {
  type Chunk,
  type ExportRequest,
  GcResponseSchema,
  WorkspaceInfoSchema,
  WorkspaceService,
} from '../gen/service_pb.ts';
import { messageOf } from '../messages.ts';
import { given, RequestBody } from '../request-body.ts';
import { idOf, numberOf } from './scan-service.ts';

const orders = new RequestBody(garbageRequest, 'body');
const wanted = new RequestBody(exportQuery, 'query');

export function addWorkspace(router: ConnectRouter, context: RouteContext): void {
  const { garbage } = context;
  router.service(WorkspaceService, {
    getInfo: unary(async (_message, { space: { store, workspace } }) => {
      const { scan_count, oldest, newest, size_bytes } = await store.scans.totals();
      const info = { path: workspace.dir, size_bytes, scan_count, oldest_scan: oldest, newest_scan: newest };
      return messageOf(WorkspaceInfoSchema, info);
    }),

    runGc: unary(async ({ olderThan, keepLast, dryRun }, call) => {
      const fields = { older_than: olderThan, keep_last: numberOf(keepLast), dry_run: dryRun };
      const order = orders.read(fields, call);
      return messageOf(GcResponseSchema, await garbage.collect(call.space, order));
    }),

    exportScan: streaming((message, call) => exportChunks(context, message, call)),
  });
}

async function* exportChunks(
  context: RouteContext,
  message: ExportRequest,
  call: AdmittedCall,
): AsyncGenerator<Chunk> {
  const id = idOf(message, call);
  const { template, against, paper, fix } = message;
  const fields = {
    format: given(message.format),
    template: given(template),
    against: given(against),
    paper: given(paper),
    fix: fix || undefined,
  };
  const { format: named = 'json', ...wishes } = wanted.read(fields, call);
  const format = exportFormatOf(named, context.license);
  checkReportWishes(format, wishes);
  const { space } = call;
  const scan = context.workers.freshen(await showScan(space.store, id));
  const held: (() => void)[] = [];
  const recordOf = async (one: Scan) => {
    const { record, release } = await space.records.hold(one);
    held.push(release);
    return record;
  };
  try {
    const report = await orderExport(context, { space, recordOf }, scan, format, wishes);
    yield* pinnedChunks(scan, format, call, partOf(format), report);
  } finally {
    for (const release of held) release();
  }
}
