import { expect, test } from 'vitest';
import { observedService } from '../../knowledge/rules/claims.ts';
import type { NetworkGate } from '../../net/gate/gate.ts';
import { probeUdpPort } from './udp-session.ts';

/** @param respond makes the response to each datagram */
async function probe(port: number, respond: (request: Buffer) => Buffer) {
  const net = {
    askUdp: async (_host: string, _port: number, request: Uint8Array) => respond(Buffer.from(request)),
  } as unknown as NetworkGate;
  const { signal } = new AbortController();
  return probeUdpPort({ host: '192.0.2.7', port }, { net, signal, timeoutMs: 100, retries: 0 });
}

test('a port that repeats each request is echo, whatever its number, and the requests are recorded', async () => {
  for (const port of [5060, 161, 53]) {
    const banners = await probe(port, (request) => request);
    expect(banners.map(observedService)).toEqual(banners.map(() => 'echo'));
    expect(banners.every(({ exchange }) => exchange?.length === 1)).toBe(true);
  }
});

test('a response of its own is recorded without the request', async () => {
  const [banner] = await probe(5060, () => Buffer.from('SIP/2.0 200 OK\r\nServer: Example/1.0\r\n\r\n'));
  expect(banner).not.toHaveProperty('exchange');
  expect(banner && observedService(banner)).toBe('sip');
});
