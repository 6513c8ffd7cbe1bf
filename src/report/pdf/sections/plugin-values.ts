import { pluralText } from '../../model/report-text.ts';
import { footnote, partHeading } from '../flow/blocks.ts';
import { columns, Table } from '../flow/table.ts';
import type { ReportPages } from '../report-pages.ts';
import { styles } from '../type/styles.ts';
import { whole } from '../type/text-layout.ts';
import { partOfText } from './section.ts';

const valueColumns = columns(
  { width: 96, head: 'Key' },
  { width: 100, head: 'Where' },
  { width: 213, head: 'Value', maxLines: 6 },
  { width: 90, head: 'Plugin', style: styles.cellSecond, maxLines: 3 },
);

/** Values that paper shows. */
const maxValues = 100;
/** Values that are drawn before the next ones. */
const step = 20;

/** What plugins recorded under keys of their own. */
export function* drawPluginValues({ flow, report }: ReportPages): Generator<void> {
  const { extras, extrasLeft } = report;
  if (extras.length === 0) return;
  const shown = extras.slice(0, maxValues);
  const all = extras.length + extrasLeft;
  partHeading(flow, 'Values of plugins', partOfText(shown.length, all, 'value'));
  const table = new Table(flow, valueColumns);
  for (const [index, { key, where, value, plugins }] of shown.entries()) {
    const place = where === '' ? 'network' : where;
    table.row([
      [whole(key, styles.mono)],
      [whole(place, styles.monoSmall)],
      [whole(value, styles.monoSmall)],
      plugins,
    ]);
    if (index % step === step - 1) yield;
  }
  table.end();
  const left = all - shown.length;
  if (left > 0) footnote(flow, `${pluralText(left, 'more value')}: all stand in the JSON format.`);
  yield;
}
