import type {
  CertificateLine,
  CertificateTotals,
  ProductLine,
  Report,
  ServiceTotals,
} from '../../model/report.ts';
import { dateText, endpointText, numberText, pluralText } from '../../model/report-text.ts';
import { severitySlots, slotSize } from '../marks.ts';
import { sectionEnd, sectionStart, subheading, tableEnd, tableStart } from '../page.ts';
import { cellText } from '../text.ts';
import { hostLink } from './places.ts';

/** Services and products; nothing without open ports. */
export function servicesSection({ services, leads }: Report): string {
  if (services.openPorts === 0) return '';
  return (
    sectionStart('services', 'Services and products', leads.services) +
    serviceTable(services) +
    productTable(services) +
    sectionEnd
  );
}

/** Width of the longest bar, pixels. */
const barWidth = 420;

function serviceTable({ names, otherNames, otherPorts, openPorts }: ServiceTotals): string {
  const rest: [string, number][] =
    otherPorts > 0 ? [[`other, ${pluralText(otherNames, 'kind')}`, otherPorts]] : [];
  const lines: [string, number][] = [
    ...names.map(({ name, ports }): [string, number] => [name, ports]),
    ...rest,
  ];
  const most = Math.max(1, ...lines.map(([, ports]) => ports));
  const rows = lines.map(
    ([name, ports]) =>
      `<tr><td>${cellText(name)}</td><td class="bars">${neutralBar(ports / most)}</td><td class="r">${numberText(ports)}</td></tr>\n`,
  );
  return `${tableStart(['Service', '|bars', 'Ports|r'], 'how sv')}${rows.join('')}</tbody><tfoot><tr><th scope="row">All open ports</th><td class="bars"></td><td class="r">${numberText(openPorts)}</td></tr></tfoot></table>\n`;
}

function neutralBar(share: number): string {
  const width = Math.max(2.5, share * barWidth).toFixed(1);
  return `<svg class="ch" viewBox="0 0 ${barWidth} 10" preserveAspectRatio="xMinYMid" aria-hidden="true"><rect class="f-n" width="${width}" height="10"/></svg>`;
}

function productTable({ products, productsLeft }: ServiceTotals): string {
  if (products.length === 0) return '';
  const note =
    productsLeft > 0
      ? `the ${numberText(products.length)} with the most findings, of ${numberText(products.length + productsLeft)}`
      : '';
  return (
    subheading('Products and versions', note) +
    tableStart(
      ['Product', 'Versions seen', 'Hosts|r', 'With findings|r', 'Findings'],
      `tw${slotSize(products.map(({ severities }) => severities))}`,
    ) +
    products.map(productRow).join('') +
    tableEnd
  );
}

function productRow({
  product,
  hosts,
  versions,
  versionsLeft,
  hostsWithFindings,
  severities,
}: ProductLine): string {
  const seen = versions.map(({ version, ports }) =>
    version === null ? `not shown on ${numberText(ports)}` : `${cellText(version)} on ${numberText(ports)}`,
  );
  if (versionsLeft > 0) seen.push(`and ${pluralText(versionsLeft, 'more version')}`);
  return (
    `<tr><th scope="row">${cellText(product)}</th><td class="t2">${seen.join(', ')}</td><td class="r" data-u="hosts">${numberText(hosts)}</td>` +
    `<td class="r" data-u="with findings">${numberText(hostsWithFindings)}</td><td>${severitySlots(severities)}</td></tr>\n`
  );
}

/** Certificates that expire; nothing if none was read. */
export function certificatesSection({ certificates, leads }: Report): string {
  const { read, expiring, expiringLeft } = certificates;
  if (read === 0) return '';
  const left =
    expiringLeft > 0
      ? `<p class="lb">${pluralText(expiringLeft, 'more certificate')} in the JSON format.</p>\n`
      : '';
  const table =
    expiring.length === 0
      ? ''
      : tableStart(['Until', 'Expires', 'Name', 'Issuer', 'Where']) +
        expiring.map(certificateRow).join('') +
        tableEnd;
  return (
    sectionStart('certificates', 'Certificates that expire', leads.certificates) + table + left + sectionEnd
  );
}

function certificateRow({ until, days, subject, issuer, host, port, more }: CertificateLine): string {
  const urgent = days < 14 ? ' class="w m"' : ' class="t2"';
  const others = more > 0 ? ` <small>and ${numberText(more)} more</small>` : '';
  return (
    `<tr><td>${dateText(until)}</td><td${urgent}>${distanceText(days)}</td><td>${cellText(subject)}</td><td class="t2">${cellText(issuer)}</td>` +
    `<td>${hostLink(host, endpointText(host, port))}${others}</td></tr>\n`
  );
}

function distanceText(days: number): string {
  if (days === 0) return 'today';
  return days < 0 ? `expired ${pluralText(-days, 'day')} ago` : `in ${pluralText(days, 'day')}`;
}

export function certificateCount({ expired, within14Days, within90Days }: CertificateTotals): number {
  return expired + within14Days + within90Days;
}
