import type { ConnectRouter } from '@connectrpc/connect';
import { exportFormatOf } from '../../../actions/results/export-scan.ts';
import { showScan } from '../../../actions/scans/show-scan.ts';
import type { RouteContext } from '../../context.ts';
import { garbageRequest, partOf } from '../../http/resources/workspace.ts';
import { streaming, unary } from '../call.ts';
import { pinnedChunks } from '../file-chunks.ts';
import { GcResponseSchema, WorkspaceInfoSchema, WorkspaceService } from '../gen/service_pb.ts';
import { callOwner, forwardChunks } from '../home-call.ts';
import { messageOf } from '../messages.ts';
import { given, RequestBody } from '../request-body.ts';
import { idOf, numberOf } from './scan-service.ts';

const orders = new RequestBody(garbageRequest, 'body');

export function addWorkspace(
  router: ConnectRouter,
  { garbage, workers, license, shards, reports }: RouteContext,
): void {
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

    exportScan: streaming(async function* file(message, call) {
      const id = idOf(message, call);
      if (message.format === 'pdf') license.demand('pdf_reporter');
      const format = exportFormatOf(given(message.format) ?? 'json');
      const { store } = call.space;
      const scan = workers.freshen(await showScan(store, id));
      const { scan_id } = scan;
      const url = `/api/v1/workspace/scans/${scan_id}/export?format=${format}`;
      const remote = await callOwner({ shards }, call, scan_id, 'GET', url);
      yield* remote
        ? forwardChunks(remote)
        : pinnedChunks(scan, format, call, partOf(format), { renderer: reports });
    }),
  });
}
