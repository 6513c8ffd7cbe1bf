import type { ListedAlert } from '../../actions/alerts/list-alerts.ts';
import type { ShownValues } from '../../alerts/alert-values.ts';
import { formatDuration } from '../../domain/time/duration.ts';
import { requireServer } from '../session/server-choice.ts';
import type { ServerFlags } from '../session/server-flags.ts';
import { renderColumns } from '../terminal/columns.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import { printable, printableJson } from '../terminal/printable.ts';

export interface AlertFlags extends ServerFlags {
  format: string;
}

/** `data` of `GET /api/v1/alerts` */
export interface AlertList {
  alerts: ListedAlert[];
  values: ShownValues;
}

/** `alert list` */
export async function showAlerts(flags: AlertFlags, global: GlobalFlags): Promise<number> {
  const client = await requireServer(flags, global);
  const list = await client.call<AlertList>('GET', '/api/v1/alerts');
  if (flags.format === 'json') print(printableJson(list));
  else if (list.alerts.length === 0) note('no alert rules; see alerts.file');
  else print(alertTable(list.alerts));
  if (flags.format === 'text')
    for (const { name, error } of list.alerts)
      if (error !== null) note(`warning: ${printable(name)} cannot be evaluated: ${printable(error)}`);
  return 0;
}

function alertTable(alerts: readonly ListedAlert[]): string {
  const rows = alerts.map(({ name, state, since, condition, for_seconds, action }) => [
    name,
    state,
    since ?? '-',
    for_seconds === 0 ? '-' : formatDuration(for_seconds * 1000),
    action,
    condition,
  ]);
  return renderColumns(['NAME', 'STATE', 'SINCE', 'FOR', 'ACTION', 'CONDITION'], rows);
}
