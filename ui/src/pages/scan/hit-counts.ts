import { count } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';

/** What a table lists. */
export type Listed = 'hosts' | 'services' | 'findings';

interface Found {
  live_hosts: number;
  open_ports: number;
  vulnerabilities: number;
}

/** `3 services, 2 ports open|filtered`: ports that did not respond have rows, and are no services. */
export function rowsText(of: Listed, results: Found, rows: number): string {
  const all = sumsOf(results)[of];
  const silent = of === 'services' ? rows - all : 0;
  const text = plural(all, of.slice(0, -1));
  return silent > 0 ? `${text}, ${plural(silent, 'port')} open|filtered` : text;
}

/** `2 of 3 services`; more than all of them are ports that did not respond too. */
export function matchesText(
  of: Listed,
  results: Found,
  matches: Record<'hosts' | 'ports' | 'findings', number>,
): string {
  const all = sumsOf(results)[of];
  const found = matches[of === 'services' ? 'ports' : of];
  if (found > all) return `${count(found)} ${of === 'services' ? 'ports' : of}`;
  return `${count(found)} of ${count(all)} ${of}`;
}

function sumsOf({ live_hosts, open_ports, vulnerabilities }: Found): Record<Listed, number> {
  return { hosts: live_hosts, services: open_ports, findings: vulnerabilities };
}
