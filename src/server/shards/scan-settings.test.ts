import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { scanSettings, scopeRules, withScanSettings } from './scan-settings.ts';

const configOf = (flags: Record<string, unknown>) =>
  loadConfig({ env: {}, systemFile: '/nowhere.yaml', flags }).config;

describe('settings of scans', () => {
  const server = configOf({
    'scanner.scope.deny': ['10.0.0.1'],
    'scanner.scope.allow': ['10.0.0.0/8'],
    'scanner.blocklist': ['10.0.0.2'],
    'scanner.max_rate': 500,
    'scanner.interface': 'eth7',
    'workers.lease': '90s',
    'workers.shard_size': 7,
    'queue.timezone': 'Europe/Oslo',
    'vulndb.nvd_api_key': 'S3CRET',
    'workspace.dir': '/srv/portolan',
  });

  it('of a server hold on another machine, which keeps what is its own', () => {
    const worker = configOf({
      'scanner.interface': 'eth0',
      'workspace.dir': '/var/w',
      'queue.url': 'postgres://x/y',
    });
    const both = withScanSettings(worker, scanSettings(server));
    expect(scopeRules(both)).toEqual({ allow: ['10.0.0.0/8'], deny: ['10.0.0.1'], blocklist: ['10.0.0.2'] });
    expect(both.scanner).toMatchObject({ max_rate: 500, interface: 'eth0' });
    expect(both.workers).toMatchObject({ shard_size: 7, lease: 90_000 });
    expect(both.queue).toMatchObject({ url: 'postgres://x/y', timezone: 'Europe/Oslo' });
    expect(both.workspace.dir).toBe('/var/w');
  });

  it('have no secrets, and nothing of one machine', () => {
    expect(scanSettings(server)).not.toMatch(/S3CRET|eth7|srv/);
  });
});
