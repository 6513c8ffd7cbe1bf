import { expect, it } from 'vitest';
import { findingKey } from './result-rows.ts';

it('names a finding by its place', () => {
  const place = { host: '192.0.2.1', port: 443, protocol: 'tcp', vulnerability: { id: 'X' } };
  expect(findingKey(place)).toBe('finding 192.0.2.1 443/tcp X');
  expect(findingKey({ ...place, port: null, protocol: null })).toBe('finding 192.0.2.1 host X');
});
