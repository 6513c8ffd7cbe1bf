import { describe, expect, it } from 'vitest';
import type { ListedScan } from '../../domain/listed-scan.ts';
import type { TerminalStyle } from '../terminal/draw/style.ts';
import { scanListTable } from './scan-list-table.ts';

const now = Date.parse('2026-11-24T12:00:00Z');

function scan(changes: Partial<ListedScan> = {}): ListedScan {
  return {
    scan_id: '20261124-115000-abcdef',
    status: 'completed',
    targets: ['127.0.7.10-12'],
    created_at: '2026-11-24T11:50:00.000Z',
    started_at: '2026-11-24T11:50:00.000Z',
    completed_at: '2026-11-24T11:50:14.000Z',
    results: { live_hosts: 3, open_ports: 1010, vulnerabilities: 59 },
    vuln: true,
    name: null,
    progress: { interrupted: false, paused: false },
    error: null,
    ...changes,
  } as ListedScan;
}

const style = (columns: number, terminal = true): TerminalStyle => ({
  columns,
  terminal,
  color: false,
  ascii: false,
});
const interrupted = scan({
  status: 'running',
  completed_at: null,
  vuln: false,
  results: { live_hosts: 7, open_ports: 1, vulnerabilities: 0 },
  progress: { interrupted: true } as ListedScan['progress'],
  targets: ['127.0.0.0/16', '127.1.0.0/16', '127.2.0.0/16'],
});

describe('the list of scans', () => {
  it('has counts at the right, times relative and – for what is not known', () => {
    expect(scanListTable([scan(), interrupted], style(80), now)).toBe(
      [
        'ID                      STATUS       WHEN         OPEN  FINDINGS  TARGETS',
        '20261124-115000-abcdef  completed    10 min ago  1,010        59  127.0.7.10-12',
        '20261124-115000-abcdef  interrupted  10 min ago      1         –  127.0….0/16 +2',
        '',
      ]
        .join('\n')
        .replace('127.0….0/16 +2', '127.0….0/16 +2'),
    );
  });

  it('also has how long it took, hosts and names from 100 columns on, and in pipes', () => {
    for (const drawn of [style(100), style(80, false)])
      expect(scanListTable([scan({ name: 'Berlin' })], drawn, now)).toBe(
        [
          'ID                      STATUS     WHEN        TOOK  HOSTS   OPEN  FINDINGS  NAME    TARGETS',
          '20261124-115000-abcdef  completed  10 min ago  14 s      3  1,010        59  Berlin  127.0.7.10-12',
          '',
        ].join('\n'),
      );
    expect(scanListTable([interrupted], style(80, false), now)).toContain(
      '127.0.0.0/16 127.1.0.0/16 127.2.0.0/16\n',
    );
  });

  it('gives each scan two lines in a narrow terminal', () => {
    expect(scanListTable([scan()], style(60), now)).toBe(
      [
        'ID                      STATUS     WHEN         OPEN',
        '  FINDINGS  TARGETS',
        '20261124-115000-abcdef  completed  10 min ago  1,010',
        '        59  127.0.7.10-12',
        '',
      ].join('\n'),
    );
  });

  it('counts nothing of a scan that has not started', () => {
    const waiting = scan({ status: 'pending', started_at: null, completed_at: null });
    expect(scanListTable([waiting], style(80), now)).toMatch(/pending +10 min ago +– +– {2}127/);
  });

  it('shows why a scan ended early', () => {
    const error = { code: 'timeout' } as const;
    expect(scanListTable([scan({ status: 'failed', error })], style(80), now)).toContain(' timed out ');
  });
});
