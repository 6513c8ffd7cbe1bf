import { expect, it } from 'vitest';
import { parseTargets } from '../../domain/targets/target.ts';
import type { DataContext } from '../../engine/module.ts';
import type { NetworkGate, PortObservation } from '../../net/gate/gate.ts';
import { AddressIterator } from '../address-iterator.ts';
import { pingByConnect } from './connect-ping.ts';

const from = '192.0.2.254';
const rejection = { reason: 'admin-prohibited', icmp: { type: 3, code: 13 }, from };

/** Pings one host. @param observed what becomes of a probe that asks for the ICMP error, or does not */
async function ping(observed: (explains: boolean) => Partial<PortObservation>) {
  const asked: boolean[] = [];
  const warned: unknown[][] = [];
  const { addresses } = parseTargets(['192.0.2.9']);
  const net = {
    addresses,
    probeTcp: async (_host: string, _port: number, { explains = false }) => {
      asked.push(explains);
      return { state: 'filtered', latencyMs: 1, ...observed(explains) };
    },
  } as unknown as NetworkGate;
  const ctx = {
    signal: new AbortController().signal,
    options: { timeout: 100, retry: 1 },
    progress: () => undefined,
    warn: (...words: unknown[]) => void warned.push(words),
  };
  const data = { append: async () => undefined } as unknown as DataContext;
  await pingByConnect(new AddressIterator(addresses, null), { net, ports: [80] }, ctx, data);
  return { asked, warned };
}

it('asks a second time for the ICMP error about a host, and says who sent it', async () => {
  const { asked, warned } = await ping((explains) =>
    explains ? { reason: rejection.reason, rejection } : { reason: 'host-unreachable' },
  );
  expect(asked).toEqual([false, true]);
  expect(warned).toEqual([['host_unreachable', `admin-prohibited from ${from}`, '192.0.2.9']]);
});

it('asks for no error about a host that is silent', async () => {
  const { asked, warned } = await ping(() => ({ reason: 'no-response' }));
  expect([asked, warned]).toEqual([[false, false], []]);
});
