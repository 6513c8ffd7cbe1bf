import type { ListedAlert } from '../../actions/alerts/list-alerts.ts';
import type { ShownValues } from '../../alerts/alert-values.ts';
import { itemsOf, mapOf, nullable, number, objectOf, text, time } from '../session/response-shape.ts';
import { requireServer } from '../session/server-choice.ts';
import type { ServerFlags } from '../session/server-flags.ts';
import { printTable } from '../terminal/draw/print-table.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import { spanText, whenText } from '../terminal/draw/times.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';

export interface AlertFlags extends ServerFlags {
  format: string;
}

/** `data` of `GET /api/v1/alerts` */
export interface AlertList {
  alerts: ListedAlert[];
  values: ShownValues;
}

export const alertListShape = objectOf<AlertList>({
  alerts: itemsOf(
    objectOf<ListedAlert>({
      name: text,
      state: text,
      since: nullable(time),
      condition: text,
      for_seconds: number,
      action: text,
      error: nullable(text),
    }),
  ),
  values: mapOf(nullable(number)),
});

/** `alert list` */
export async function showAlerts(flags: AlertFlags, global: GlobalFlags): Promise<void> {
  const client = await requireServer(flags, global);
  const list = await client.call('GET', '/api/v1/alerts', alertListShape);
  if (flags.format === 'json') print(printableJson(list));
  else if (list.alerts.length === 0) note('no alert rules; see alerts.file');
  else printAlerts(list.alerts, global);
  if (flags.format === 'text')
    for (const { name, error } of list.alerts)
      if (error !== null) note(`warning: ${printable(name)} cannot be evaluated: ${printable(error)}`);
}

function printAlerts(alerts: readonly ListedAlert[], flags: { color: boolean }): void {
  const now = Date.now();
  printTable<ListedAlert>(
    [
      { head: 'NAME', cell: ({ name }) => name },
      {
        head: 'STATE',
        cell: ({ state }) => state,
        paint: ({ state }) => (state === 'firing' ? 'yellow' : null),
      },
      { head: 'SINCE', cell: ({ since }) => since && whenText(since, now) },
      { head: 'FOR', cell: ({ for_seconds: seconds }) => (seconds === 0 ? null : spanText(seconds * 1000)) },
      { head: 'ACTION', cell: ({ action }) => action },
      { head: 'CONDITION', cell: ({ condition }) => condition, over: 'wrap' },
    ],
    alerts,
    flags,
    [['CONDITION', 20]],
  );
}
