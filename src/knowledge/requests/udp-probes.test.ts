import { expect, test } from 'vitest';
import { udpPayloads } from './udp-payloads.ts';
import { udpProbes, udpServiceOf } from './udp-probes.ts';

const ports = [53, 123, 137, 161, 389, 500, 623, 1194, 1701, 1900, 3478, 4500, 5353, 5683];

test.each(ports)('the probes of port %i have unique names that indicate the service', (port) => {
  const names = udpProbes(port).map(({ name }) => name);
  expect(names.length).toBeGreaterThan(0);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(udpServiceOf(name)).not.toBeNull();
});

test('queries a host for the name of its own address, for IPv4 only', () => {
  const bytes = udpProbes(5353).at(-1)?.bytes;
  const bytesFor = typeof bytes === 'function' ? bytes : () => null;
  expect(Buffer.from(bytesFor('192.0.2.17') ?? []).toString('latin1')).toContain(
    '\x0217\x012\x010\x03192\x07in-addr',
  );
  expect(bytesFor('2001:db8::1')).toBeNull();
});

test.each([500, 1194, 1701])('port %i gets other identifiers than at the sweep', (port) => {
  const [first] = udpProbes(port);
  const [swept] = udpPayloads(port);
  expect(Buffer.from(first?.bytes as Uint8Array).equals(Buffer.from(swept?.bytes ?? []))).toBe(false);
});
