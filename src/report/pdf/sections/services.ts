import type { ProductLine } from '../../model/report.ts';
import { listText, numberText, pluralText } from '../../model/report-text.ts';
import { drawNeutralBar } from '../figures/bars.ts';
import { severityCountPieces } from '../figures/marks.ts';
import { footnote, lead, partHeading } from '../flow/blocks.ts';
import { columns, Table } from '../flow/table.ts';
import type { ReportPages } from '../report-pages.ts';
import { styles } from '../type/styles.ts';
import { plain } from '../type/text-layout.ts';
import { drawCertificates } from './certificates.ts';
import { drawCompliance } from './compliance.ts';
import { listedSections } from './listed-sections.ts';
import { drawPluginValues } from './plugin-values.ts';
import { closeSection, isShortReport, openSection, partOfText, soFar } from './section.ts';

/** The inventory: what runs on the open ports, and what expires, fails a control, or was added by plugins. */
export function* drawServices(pages: ReportPages): Generator<void> {
  const { flow, report } = pages;
  if (!listedSections.services.when(report)) return;
  openSection(pages, 'services');
  lead(flow, report.leads.services);
  if (!isShortReport(pages)) drawNames(pages);
  drawProducts(pages);
  yield;
  drawCertificates(pages);
  yield;
  yield* drawCompliance(pages);
  yield* drawPluginValues(pages);
  closeSection(pages);
  yield;
}

const nameColumns = columns(
  { width: 90, head: 'Service', maxLines: 1 },
  { width: 361, head: '', name: 'Bar' },
  { width: 48, head: 'Ports', align: 'right', style: styles.number },
);

/** Points above and below the text of a bar. */
const barPadding = 1.5;

function drawNames({ flow, report }: ReportPages): void {
  const { names, otherNames, otherPorts, unrecognized, openPorts } = report.services;
  if (openPorts === 0) return;
  const lines = [
    ...names.map(({ name, ports }) => ({ name, ports })),
    ...(otherPorts > 0 ? [{ name: `other, ${pluralText(otherNames, 'kind')}`, ports: otherPorts }] : []),
    ...(unrecognized > 0 ? [{ name: 'not recognized', ports: unrecognized }] : []),
  ];
  const most = Math.max(...lines.map(({ ports }) => ports));
  const table = new Table(flow, nameColumns, { bare: true });
  for (const { name, ports } of lines) {
    const bar = (x: number, y: number, width: number, height: number) =>
      drawNeutralBar(flow.sheet, ports, most, { x, y, width, height });
    table.row([name, { draw: bar }, numberText(ports)], { padding: barPadding });
  }
  table.end(['All open ports', '', numberText(openPorts)]);
}

const productColumns = columns(
  { width: 96, head: 'Product', style: styles.cellMedium },
  { width: 178, head: 'Versions seen, and on how many ports', style: styles.cellSecond },
  { width: 36, head: 'Hosts', align: 'right', style: styles.number },
  { width: 62, head: 'With findings', align: 'right', style: styles.number },
  { width: 127, head: 'Findings' },
);

/** Points of each severity beside the others. */
const severitySlot = 25;

function drawProducts(pages: ReportPages): void {
  const { flow, report } = pages;
  const { products, productsLeft } = report.services;
  if (products.length === 0) return;
  const count = partOfText(products.length, products.length + productsLeft, 'product');
  const order = report.summary.findings > 0 ? ', most findings first' : '';
  partHeading(flow, 'Products and versions', `${count}${soFar(pages)}${order}`);
  const table = new Table(flow, productColumns);
  for (const product of products) {
    const findings = severityCountPieces(flow.faces, product.severities, severitySlot);
    table.row([
      product.product,
      versionsText(product),
      numberText(product.hosts),
      numberText(product.hostsWithFindings),
      product.hostsWithFindings > 0 ? findings : [plain('0', styles.cellThird)],
    ]);
  }
  table.end();
  if (productsLeft > 0) {
    footnote(flow, `${pluralText(productsLeft, 'more product')}: all stand in the JSON format.`);
  }
}

/** `9.2p1 on 9, 9.0p1 on 2, not shown on 4 and 3 more versions` */
function versionsText({ versions, versionsLeft }: ProductLine): string {
  const seen = versions.map(({ version, ports }) => `${version ?? 'not shown'} on ${numberText(ports)}`);
  if (versionsLeft === 0) return seen.join(', ');
  return listText([seen.join(', '), pluralText(versionsLeft, 'more version')]);
}
