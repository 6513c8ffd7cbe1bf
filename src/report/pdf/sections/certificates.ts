import type { CertificateLine } from '../../model/report.ts';
import { dateText, endpointText, numberText, pluralText } from '../../model/report-text.ts';
import { severityMark } from '../figures/marks.ts';
import { footnote, partHeading } from '../flow/blocks.ts';
import { columns, Table } from '../flow/table.ts';
import type { ReportPages } from '../report-pages.ts';
import { colored, severityColors, styles } from '../type/styles.ts';
import { type Piece, plain, whole } from '../type/text-layout.ts';
import { sectionAnchor } from './section.ts';

const certificateColumns = columns(
  { width: 62, head: 'Until' },
  { width: 106, head: '', name: 'Distance' },
  { width: 130, head: 'Name', maxLines: 3 },
  { width: 84, head: 'Issuer', style: styles.cellSecond, maxLines: 3 },
  { width: 117, head: 'Where' },
);

/** Days before the end of a certificate from which on it is marked. */
const soonDays = 14;

/** Certificates that expired, or will soon. */
export function drawCertificates({ flow, report }: ReportPages): void {
  const { certificates, leads } = report;
  if (certificates.read === 0) return;
  const { expiring, expiringLeft } = certificates;
  partHeading(flow, 'Certificates that expire', leads.certificates.replace(/\.$/, ''), {
    anchor: sectionAnchor('certificates'),
  });
  if (expiring.length === 0) {
    // Nothing follows that the heading could stay with.
    flow.flush();
    return;
  }
  const table = new Table(flow, certificateColumns);
  for (const line of expiring) {
    table.row([
      dateText(line.until),
      distancePieces(line),
      line.subject === '' ? [plain('no name', styles.cellThird)] : line.subject,
      line.issuer,
      wherePieces(line),
    ]);
  }
  table.end();
  if (expiringLeft > 0) {
    footnote(flow, `${pluralText(expiringLeft, 'more certificate')}: all stand in the JSON format.`);
  }
}

function distancePieces({ days }: CertificateLine): Piece[] {
  if (days >= soonDays) return [plain(distanceText(days), styles.cellSecond)];
  const style = colored(styles.cellMedium, severityColors.medium.text);
  return [severityMark('medium'), plain(distanceText(days), style)];
}

function distanceText(days: number): string {
  if (days < 0) return `expired ${pluralText(-days, 'day')} ago`;
  return days === 0 ? 'within a day' : `in ${pluralText(days, 'day')}`;
}

function wherePieces({ host, port, more }: CertificateLine): Piece[] {
  const where = whole(endpointText(host, port), styles.mono);
  return more === 0 ? [where] : [where, plain(` and ${numberText(more)} more`, styles.note)];
}
