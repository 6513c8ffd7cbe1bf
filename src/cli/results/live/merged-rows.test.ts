import { expect, it } from 'vitest';
import type { HostRow } from '../../../domain/result.ts';
import { MergedRows } from './merged-rows.ts';

const host: HostRow = { type: 'host', timestamp: '2026-01-02T03:04:05.000Z', host: '192.0.2.1', state: 'up' };
const producer = { name: 'my_plugin', version: '1.0.0', sha256: 'ab' };

it('rows get what earlier rows of their identity said, and plugins change nothing of it', () => {
  const rows = new MergedRows();
  rows.add({ ...host, latency_ms: 1, mac: 'aa' });
  expect(rows.add({ ...host, device_type: 'server' })).toMatchObject({ latency_ms: 1, mac: 'aa' });
  expect(rows.add({ ...host, mac: 'bb', vendor: 'Example', producer })).toMatchObject({
    mac: 'aa',
    vendor: 'Example',
  });
});
