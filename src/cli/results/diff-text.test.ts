import { describe, expect, it } from 'vitest';
import type {
  ChangeList,
  ChangeLists,
  Comparison,
  ListedFinding,
  NotComparable,
} from '../../actions/results/compare-scans.ts';
import { plainStyle, type TerminalStyle } from '../terminal/draw/style.ts';
import { diffText } from './diff-text.ts';

type Lists = { [L in ChangeList]?: ChangeLists[L][] };

const [older, newer] = ['20261123-120000-abcdef', '20261124-115600-abcdef'];
const now = Date.parse('2026-11-24T12:00:00Z');

async function draw(lists: Lists, more: { all?: boolean; style?: TerminalStyle; unchanged?: number } = {}) {
  const { all = false, style = plainStyle, unchanged = 0 } = more;
  const comparison: Comparison = {
    scan_id: newer,
    against: older,
    unchanged,
    list: <L extends ChangeList>(name: L) => (lists[name] ?? []) as ChangeLists[L][],
  };
  const text = (await Array.fromAsync(diffText(comparison, { style, now, all }))).join('');
  return text.trimEnd().split('\n');
}

const tcp = { protocol: 'tcp' as const };
const open = { state: 'open', service: 'http', product: null, version: null };
const nginx = { ...open, product: 'nginx', version: '1.16.1' };
const finding = {
  host: '192.0.2.1',
  port: 80,
  ...tcp,
  vulnerability: { id: 'CVE-2099-1', severity: 'critical', title: 'A title of some length' },
} as ListedFinding;

const lists: Lists = {
  'hosts.added': ['2001:db8::1'],
  'ports.added': [{ host: '192.0.2.11', port: 3000, ...tcp, ...open, product: 'Werkzeug', version: '2.0.1' }],
  'ports.changed': [
    { host: '192.0.2.10', port: 80, ...tcp, before: nginx, after: { ...nginx, version: '1.18.0' } },
    { host: '192.0.2.10', port: 81, ...tcp, before: open, after: { ...open, state: 'filtered' } },
    { host: '192.0.2.10', port: 82, ...tcp, before: open, after: nginx },
  ],
  'ports.removed': [{ host: '2001:db8::2', port: 53, protocol: 'udp', ...open, service: null }],
  'vulnerabilities.new': [finding],
  'vulnerabilities.resolved': [finding],
};

describe('a comparison', () => {
  it('has new, changed and gone, aligned, and their numbers', async () => {
    expect(await draw(lists, { unchanged: 1204 })).toEqual([
      `${newer} (4 min ago) since ${older} (1 day ago)`,
      '+ 2001:db8::1           host',
      '+ 192.0.2.11:3000       http, Werkzeug 2.0.1',
      '+ 192.0.2.1:80          CRITICAL  CVE-2099-1  A title of some length',
      '~ 192.0.2.10:80         nginx 1.16.1 -> 1.18.0',
      '~ 192.0.2.10:81         open -> filtered, http',
      '~ 192.0.2.10:82         http -> http, nginx 1.16.1',
      '- [2001:db8::2]:53/udp  open',
      '- 192.0.2.1:80          CRITICAL  CVE-2099-1  A title of some length',
      '3 new, 3 changed, 2 gone, 1,204 findings unchanged',
    ]);
  });

  it('says once which host moved, and by what it was recognized', async () => {
    const moved = {
      before: '192.0.2.1',
      after: '192.0.2.9',
      by: [
        { kind: 'mac' as const, value: '00:0c:29:00:00:01' },
        { kind: 'ssh_host_key' as const, value: 'ssh-ed25519 abc' },
      ],
    };
    const found = await draw({
      'hosts.added': ['192.0.2.9'],
      'hosts.removed': ['192.0.2.1'],
      'hosts.moved': [moved],
    });
    expect(found.slice(1)).toEqual(['~ 192.0.2.1  -> 192.0.2.9, same mac, ssh host key', '1 changed']);
  });

  it('says so when nothing changed', async () => {
    expect((await draw({})).slice(1)).toEqual(['no change']);
    expect((await draw({}, { unchanged: 1 })).slice(1)).toEqual(['no change, 1 finding unchanged']);
  });

  it('is cut in a terminal only, and colors the signs of findings', async () => {
    const style = { columns: 40, terminal: true, color: true, ascii: false };
    const found = await draw(
      { 'vulnerabilities.new': [finding], 'vulnerabilities.resolved': [finding] },
      { style },
    );
    expect(found.slice(1, 3)).toEqual([
      '\x1b[31m+\x1b[39m 192.0.2.1:80  CRITICAL  CVE-2099-1  A…',
      '\x1b[32m-\x1b[39m 192.0.2.1:80  CRITICAL  CVE-2099-1  A…',
    ]);
  });
});

describe('what cannot be compared', () => {
  const item = (host: string, changes: Partial<NotComparable> = {}): NotComparable => ({
    host,
    port: null,
    protocol: null,
    reason: 'partial',
    missing_in: newer,
    ...changes,
  });
  const unseen = (host: string) =>
    item(host, { port: 80, ...tcp, reason: 'not_evaluated', missing_in: older });
  const items = [
    ...Array.from({ length: 43 }, () => unseen('192.0.2.10')),
    item('192.0.2.1', { port: 53, protocol: 'udp', reason: 'port_not_planned' }),
    item('192.0.2.7'),
  ];

  it('is summed up by host and reason', async () => {
    expect((await draw({ not_comparable: items })).slice(1)).toEqual([
      '? 43 findings of 192.0.2.10: not evaluated before',
      '? 192.0.2.1:53/udp: not tried now',
      '? 192.0.2.7: not reached now',
      'no change, 45 not comparable',
    ]);
  });

  it('is summed up over many hosts', async () => {
    const many = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'];
    const all = [...many.map((host) => item(host)), ...many.flatMap((host) => [unseen(host), unseen(host)])];
    expect((await draw({ not_comparable: all })).slice(1, -1)).toEqual([
      '? 4 hosts: not reached now',
      '? 8 findings of 4 hosts: not evaluated before',
    ]);
  });

  it('has a line for each result with -v', async () => {
    const found = await draw({ not_comparable: items }, { all: true });
    expect(found.filter((line) => line === '? 192.0.2.10:80: not evaluated before')).toHaveLength(43);
    expect(found).toHaveLength(47);
  });
});
