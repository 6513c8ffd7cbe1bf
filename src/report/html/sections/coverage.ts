import type { Coverage, PortSums, Report } from '../../model/report.ts';
import { endpointText, numberText, pluralText } from '../../model/report-text.ts';
import { sectionEnd, sectionStart, subheading, tableEnd, tableStart } from '../page.ts';
import { cellText, code, paragraphText } from '../text.ts';
import { hostLink } from './places.ts';
import { partialBanner } from './summary.ts';

/** What was looked at, and what was not. */
export function coverageSection(report: Report): string {
  const { coverage } = report;
  return (
    sectionStart('coverage', 'Coverage', '') +
    partialBanner(report) +
    `<p class="lead g">${paragraphText(coverage.text)}</p>\n` +
    addressPart(coverage) +
    portPart(coverage) +
    unfinishedPart(coverage) +
    tarpitPart(coverage) +
    messagePart('Warnings', coverage.warnings, coverage.warningsLeft) +
    messagePart('Errors', coverage.errors, coverage.errorsLeft) +
    sectionEnd
  );
}

function addressPart({ addresses }: Coverage): string {
  const { requested, responded, silent, excluded } = addresses;
  const rows: [string, number][] = [
    ['Answered', responded],
    ['No answer', silent],
    ['Excluded', excluded],
  ];
  const note = `${numberText(requested)} requested`;
  return (
    subheading('Addresses', note) +
    addressBar(addresses) +
    tableStart(['State', 'Addresses|r'], 'how cov') +
    rows
      .map(
        ([name, count]) => `<tr><th scope="row">${name}</th><td class="r">${numberText(count)}</td></tr>\n`,
      )
      .join('') +
    tableEnd
  );
}

/** Width of the bar of addresses, pixels. */
const barWidth = 420;

/** Solid answered, outlined silent, hatched excluded; the numbers stand below. */
function addressBar({ requested, responded, silent, excluded }: Coverage['addresses']): string {
  if (requested === 0) return '';
  const widths = [responded, silent, excluded].map((count) => (count / requested) * barWidth);
  const [solid = 0, outlined = 0, hatched = 0] = widths;
  const inner = (left: number, width: number) =>
    `x="${(left + 0.5).toFixed(1)}" y=".5" width="${Math.max(0, width - 1).toFixed(1)}" height="9"`;
  return (
    `<svg class="ch" viewBox="0 0 ${barWidth} 10" preserveAspectRatio="xMinYMid" aria-hidden="true">` +
    `<rect class="f-n" width="${solid.toFixed(1)}" height="10"/><rect class="s-n o" ${inner(solid, outlined)}/>` +
    `<rect class="s-n" fill="url(#hatch-n)" ${inner(solid + outlined, hatched)}/></svg>\n`
  );
}

const states: readonly [keyof PortSums, string][] = [
  ['open', 'Open'],
  ['closed', 'Closed'],
  ['filtered', 'Filtered or no answer'],
  ['notTried', 'Not tried'],
];

function portPart({ ports }: Coverage): string {
  if (ports === null) return '';
  const columns = [ports.tcp, ports.udp, ports.all];
  const cells = (state: keyof PortSums) =>
    columns.map((sums) => `<td class="r">${numberText(sums[state])}</td>`).join('');
  const rows = states.map(([state, name]) => `<tr><th scope="row">${name}</th>${cells(state)}</tr>\n`);
  return `${subheading('Ports', 'of hosts that answered')}${tableStart(['State', 'TCP|r', 'UDP|r', 'All|r'], 'how cov')}${rows.join('')}</tbody><tfoot><tr><th scope="row">Planned</th>${cells('planned')}</tr></tfoot></table>\n`;
}

function unfinishedPart({ unfinished, unfinishedLeft }: Coverage): string {
  if (unfinished.length === 0) return '';
  const rows = unfinished.map(
    ({ host, port, protocol, stage, missing }) =>
      `<tr><td>${hostLink(host, endpointText(host, port))} ${protocol === 'udp' ? 'UDP' : ''}</td><td>${code(stage)}</td><td class="wd">${cellText(missing)}</td></tr>\n`,
  );
  const note = pluralText(unfinished.length + unfinishedLeft, 'service');
  const left =
    unfinishedLeft > 0
      ? `<p class="lb">${pluralText(unfinishedLeft, 'more service')} in the JSON format.</p>\n`
      : '';
  return (
    subheading('What did not reach its end', note) +
    tableStart(['Service', 'Stage', 'What is missing']) +
    rows.join('') +
    tableEnd +
    left
  );
}

function tarpitPart({ allPortsOpen }: Coverage): string {
  if (allPortsOpen.length === 0) return '';
  const hosts = allPortsOpen.map((host) => hostLink(host)).join(' ');
  return `${subheading('Hosts that accept connections on nearly every port', 'open ports are no evidence of services there')}<p class="pl">${hosts}</p>\n`;
}

function messagePart(name: string, messages: Coverage['warnings'], left: number): string {
  if (messages.length === 0) return '';
  const rows = messages.map(
    ({ code: name, where, message }) =>
      `<tr><td>${code(name)}</td><td>${where === '' ? '' : code(where)}</td><td class="wd">${paragraphText(message)}</td></tr>\n`,
  );
  const more = left > 0 ? `<p class="lb">${numberText(left)} more in the JSON format.</p>\n` : '';
  const note = numberText(messages.length + left);
  return (
    subheading(name, note) + tableStart(['Code', 'Where', 'What happened']) + rows.join('') + tableEnd + more
  );
}
