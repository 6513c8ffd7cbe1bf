import { type FindingClass, findingClasses } from '../../../domain/finding.ts';
import type { FindingPlace, NetworkCount } from '../../model/report.ts';
import { endpointText, hostAnchor, numberText, pluralText, portText } from '../../model/report-text.ts';
import { classLetter } from '../marks.ts';
import { tableEnd, tableStart } from '../page.ts';
import { cellText, code } from '../text.ts';

/** Link to the block of a host. */
export function hostLink(host: string, text = host): string {
  return `<a class="a" href="#${hostAnchor(host)}">${cellText(text)}</a>`;
}

/** Places of an action: one row each, with what speaks for or against. */
export function placesTable(places: readonly FindingPlace[], left: number): string {
  const rows = places.map(
    ({ host, name, port, protocol, seen, class: sure, note }) =>
      `<tr><td>${hostLink(host)}</td><td>${name === null ? '' : cellText(name)}</td><td class="a">${portText(port, protocol)}</td>` +
      `<td>${seen === null ? '' : code(seen)}</td><td class="${classLetter[sure]}">${sure}</td><td class="t2">${cellText(note)}</td></tr>\n`,
  );
  const heads = ['Address', 'Name', 'Port', 'Seen', 'Class', 'For or against'];
  const more =
    left > 0 ? `<p>${pluralText(left, 'more place')}: every host below names its findings.</p>\n` : '';
  return tableStart(heads, 'tw pls') + rows.join('') + tableEnd + more;
}

/** Places of a finding as links, by class. */
export function placesList(
  places: readonly FindingPlace[],
  left: number,
  networks: readonly NetworkCount[],
): string {
  const lists = findingClasses.map((name) => placesOfClass(places, name));
  return `${lists.join('')}${left > 0 ? placesLeft(left, networks) : ''}`;
}

function placesOfClass(places: readonly FindingPlace[], name: FindingClass): string {
  const found = places.filter((place) => place.class === name);
  if (found.length === 0) return '';
  const links = found.map(({ host, port }) => hostLink(host, endpointText(host, port)));
  return `<p class="pl"><span class="${classLetter[name]}">${name}</span> ${links.join(' ')}</p>\n`;
}

/** What the list leaves out, by network. */
function placesLeft(left: number, networks: readonly NetworkCount[]): string {
  const counts = networks.map(({ network, hosts }) => `${code(network)} ${numberText(hosts)}`);
  const where = counts.length === 0 ? '' : ` All hosts by network: ${counts.join(', ')}.`;
  return `<p>${pluralText(left, 'more place')}.${where}</p>\n`;
}
