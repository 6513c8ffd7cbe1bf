import type { ControlLine, FrameworkResult } from '../../model/report.ts';
import { endpointText, numberText, pluralText } from '../../model/report-text.ts';
import { footnote, partHeading } from '../flow/blocks.ts';
import { type CellPart, columns, Table } from '../flow/table.ts';
import type { ReportPages } from '../report-pages.ts';
import { styles } from '../type/styles.ts';
import { joinPieces, type Piece, plain, whole } from '../type/text-layout.ts';
import { sectionAnchor } from './section.ts';

const controlColumns = columns(
  { width: 48, head: 'Control', style: styles.mono },
  { width: 253, head: 'What it asks, and where it fails' },
  { width: 68, head: 'Verdict' },
  { width: 34, head: 'Pass', align: 'right', style: styles.number },
  { width: 34, head: 'Fail', align: 'right', style: styles.number },
  { width: 62, head: 'Not assessed', align: 'right', style: styles.number },
);

/** Places that are named where a control fails. */
const maxFailed = 4;

/** Results of frameworks, as far as they show on the network. */
export function* drawCompliance({ flow, report }: ReportPages): Generator<void> {
  for (const framework of report.compliance) {
    partHeading(flow, `Compliance: ${framework.framework}`, noteText(framework), {
      anchor: sectionAnchor('compliance'),
    });
    const table = new Table(flow, controlColumns);
    for (const control of framework.controls) {
      const fails = control.fail > 0;
      table.row([
        [whole(control.control, styles.mono)],
        { parts: titleParts(control) },
        verdictPieces(control),
        numberText(control.pass),
        [plain(numberText(control.fail), fails ? styles.numberStrong : styles.number)],
        numberText(control.notAssessed),
      ]);
    }
    table.end();
    footnote(flow, sumText(framework, report.hosts.all));
    yield;
  }
}

function noteText({ controls, controlsLeft }: FrameworkResult): string {
  const failed = controls.filter(({ fail }) => fail > 0).length;
  const open = controls.filter(({ fail, pass }) => fail + pass === 0).length;
  const of = pluralText(controls.length + controlsLeft, 'control');
  return `as far as it shows on the network: ${numberText(failed)} of ${of} ${failed === 1 ? 'fails' : 'fail'}, ${numberText(open)} not assessed`;
}

function verdictPieces({ fail, pass }: ControlLine): Piece[] {
  if (fail > 0) return [plain('fails', styles.cellStrong)];
  return [plain(pass > 0 ? 'none fails' : 'not assessed', styles.cellThird)];
}

function titleParts({ title, fail, failed, reason }: ControlLine): CellPart[] {
  const parts: CellPart[] = [{ pieces: [plain(title, styles.cell)], line: 11 }];
  const places = failedPieces(failed, fail);
  if (places.length > 0) parts.push({ pieces: places, line: 10, maxLines: 4 });
  if (reason !== null && reason !== '') {
    parts.push({ pieces: [plain(reason, styles.note)], line: 10, maxLines: 3 });
  }
  return parts;
}

/** `192.168.20.5:445, 192.168.20.6 and 7 more hosts` */
function failedPieces(failed: ControlLine['failed'], hosts: number): Piece[] {
  const shown = failed.slice(0, maxFailed);
  const style = { ...styles.monoLabel, color: styles.note.color };
  const places = shown.map(({ host, port }) => whole(endpointText(host, port), style));
  const pieces = joinPieces(places, plain(', ', styles.note));
  const left = hosts - new Set(shown.map(({ host }) => host)).size;
  if (left > 0) pieces.push(plain(` and ${pluralText(left, 'more host')}`, styles.note));
  return pieces;
}

function sumText({ controls, controlsLeft }: FrameworkResult, hosts: number): string {
  const sums = controls.every(({ fail, pass, notAssessed }) => fail + pass + notAssessed === hosts);
  const more =
    controlsLeft > 0 ? ` ${pluralText(controlsLeft, 'more control')}: all stand in the JSON format.` : '';
  return `Numbers are hosts${sums ? ` and add up to ${numberText(hosts)} in each row` : ''}. A scan sees a part of what a control asks: a control that does not fail here is not met by that alone.${more}`;
}
