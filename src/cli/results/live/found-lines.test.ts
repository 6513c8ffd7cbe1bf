import { expect, it } from 'vitest';
import type { PortRow } from '../../../domain/result.ts';
import { FoundLines } from './found-lines.ts';

it('what is found has a line each, and one more when its service is known', () => {
  const lines = new FoundLines();
  const place = { host: '192.0.2.10', port: 22, protocol: 'tcp' as const };
  const port: PortRow = { type: 'port', timestamp: '', ...place, state: 'open', reason: 'syn-ack' };
  const service = {
    name: 'ssh',
    product: 'OpenSSH',
    vendor: null,
    version: '9.2p1',
    cpe: null,
    confidence: 1,
  };
  const rows = [port, { ...port, banner: 'SSH' }, { ...port, service }, { ...port, service }];
  expect(rows.map((row) => lines.take(row))).toEqual([
    '192.0.2.10:22  open\n',
    '',
    '192.0.2.10:22  ssh, OpenSSH 9.2p1\n',
    '',
  ]);
});
