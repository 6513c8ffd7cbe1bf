import { randomUUID } from 'node:crypto';
import { notifyScan, notifyUnstoredScan } from '../../../actions/notifications/notify-scan.ts';
import { unstoredHighlights } from '../../../actions/notifications/scan-highlights.ts';
import { StoredHighlights } from '../../../actions/notifications/stored-highlights.ts';
import { scanPage } from '../../../config/public-url.ts';
import type { Config } from '../../../config/schema.ts';
import type { NotificationState, Scan } from '../../../domain/scan.ts';
import type { ModuleCatalog } from '../../../scan-run/plan/plan-scan.ts';
import type { Store } from '../../../store/open.ts';
import { recordIn } from '../../../workspace/record/folder-record.ts';
import type { Workspace } from '../../../workspace/workspace.ts';
import { printable } from '../../terminal/draw/printable.ts';
import { onInterrupt } from '../../terminal/interrupt.ts';

/**
 * Sends the notifications of an ended scan and waits for them. Failures do not affect the scan. The first Ctrl-C gives
 * up: pending notifications are sent once a server uses the workspace.
 *
 * @param note prints a line for the user
 */
export async function notifyFromHere(
  { store, workspace }: { store: Store | null; workspace: Workspace },
  { config, catalogue }: { config: Config; catalogue: ModuleCatalog },
  scan: Scan,
  channels: readonly string[],
  note: (text: string) => void,
): Promise<void> {
  if (channels.length === 0) return;
  const abort = new AbortController();
  const release = onInterrupt(() => abort.abort(), 7);
  const { notifications: settings, server } = config;
  const context = { settings, signal: abort.signal };
  const pageOf = (scanId: string) => scanPage(server, scanId);
  const holdRecord = async ({ scan_id }: Scan, tenant: string | null) => ({
    record: recordIn(workspace.forTenant(tenant).scan(scan_id)),
    release: () => undefined,
  });
  try {
    const states = store
      ? await notifyScan(
          {
            ...context,
            pageOf,
            store,
            workspace,
            highlights: new StoredHighlights(
              { store, config, catalogueOf: () => catalogue, holdRecord },
              abort.signal,
            ),
          },
          scan.scan_id,
        )
      : await notifyUnstoredScan(
          { ...context, highlights: unstoredHighlights(recordIn(workspace.scan(scan.scan_id))) },
          scan,
          channels,
          randomUUID,
        );
    for (const line of states.flatMap(warningsOf)) note(line);
  } catch (error) {
    note(`warning: cannot send notifications: ${printable((error as Error).message)}`);
  } finally {
    release();
  }
}

function warningsOf({ channel, status, error }: NotificationState): string[] {
  if (status === 'delivered' && error === null) return [];
  const remark = error === null ? status : `${status}: ${error}`;
  return [`warning: notification to ${printable(channel)} ${printable(remark)}`];
}
