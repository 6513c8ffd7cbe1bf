import { describe, expect, it } from 'vitest';
import type { StageRecord } from '../../domain/scan.ts';
import { type HintedScan, hintOf } from './result-hint.ts';

const given = { discover: true };

function scan(live_hosts: number, open_ports: number, changes: Partial<HintedScan> = {}): HintedScan {
  const results = { live_hosts, open_ports, vulnerabilities: 0 };
  return { results, error: null, vuln: false, targets: ['192.0.2.10'], stages: [], ...changes };
}

const silentPorts = {
  stages: [
    { module_type: 'icmp_discovery' },
    { module_type: 'syn_scanner', coverage: { open: 0, closed: 0, filtered: 3, not_tried: 0 } },
  ] as StageRecord[],
};

describe('the hint after a scan', () => {
  it('scans the ports of a host that was not found', () => {
    expect(hintOf(scan(0, 0), given)).toBe('its ports all the same: portolan scan 192.0.2.10 -Pn');
    expect(hintOf(scan(0, 0), { ...given, ports: '22,80' })).toBe(
      'its ports all the same: portolan scan 192.0.2.10 -p 22,80 -Pn',
    );
  });

  it('is never a flag that was given, nor against one', () => {
    expect(hintOf(scan(0, 0), { discover: false })).toBeNull();
    expect(hintOf(scan(0, 0), { ...given, onlyDiscover: true })).toBeNull();
    expect(hintOf(scan(1, 2, { vuln: true }), given)).toBeNull();
  });

  it('explains ports that do not respond', () => {
    expect(hintOf(scan(1, 0, silentPorts), given)).toBe('why: portolan explain 192.0.2.10');
  });

  it('is none where explain would need another host, or all ports are closed', () => {
    expect(hintOf(scan(1, 0), given)).toBeNull();
    expect(hintOf(scan(1, 0, { ...silentPorts, targets: ['192.0.2.0/24'] }), given)).toBeNull();
  });

  it('looks for findings of open ports', () => {
    expect(hintOf(scan(1, 2), given)).toBe('findings: portolan scan 192.0.2.10 --vuln');
  });

  it('is none for several targets, or after an error', () => {
    expect(hintOf(scan(0, 0, { targets: ['192.0.2.10', '192.0.2.11'] }), given)).toBeNull();
    expect(hintOf(scan(0, 0, { error: { code: 'timeout', message: '' } }), given)).toBeNull();
  });

  it('shows a canceled scan', () => {
    const error = { code: 'canceled', message: '' } as const;
    expect(hintOf(scan(0, 0, { error }), given)).toBe('see it: portolan workspace show latest');
  });

  it('makes what a target says harmless', () => {
    expect(hintOf(scan(0, 0, { targets: ['a\u001bb'] }), given)).toContain('a\\x1bb');
  });
});
