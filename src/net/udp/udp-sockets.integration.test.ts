import { createSocket, type Socket } from 'node:dgram';
import { afterEach, expect, it, vi } from 'vitest';
import type { SocketEgress } from '../egress.ts';
import { UdpSockets } from './udp-sockets.ts';

const localhost = Uint8Array.of(127, 0, 0, 1);
const opened: (UdpSockets | Socket)[] = [];

afterEach(() => {
  for (const each of opened.splice(0)) each.close();
});

function open(egress: SocketEgress | null): UdpSockets {
  const sockets = UdpSockets.open(4, egress);
  if (!(sockets instanceof UdpSockets)) throw new Error('no socket');
  opened.push(sockets);
  return sockets;
}

/** A service that responds, and the source ports of what it got. */
async function service(): Promise<{ port: number; seen: number[] }> {
  const socket = createSocket('udp4');
  opened.push(socket);
  const seen: number[] = [];
  socket.on('message', (bytes, { port, address }) => {
    seen.push(port);
    socket.send(bytes, port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { port: socket.address().port, seen };
}

function enter(sockets: UdpSockets): number {
  const channel = sockets.enter();
  if (typeof channel !== 'number') throw new Error(channel.unbound);
  return channel;
}

it('each host has a source port of its own, and what arrives there shows its channel', async () => {
  const { port, seen } = await service();
  const sockets = open(null);
  const channels = Array.from({ length: 20 }, () => enter(sockets));
  const bytes = Buffer.from('x');
  sockets.send(channels.map((channel) => ({ address: localhost, scopeId: 0, port, channel, bytes })));
  const reached: number[] = [];
  await vi.waitFor(() => {
    reached.push(...sockets.answers().map(({ channel }) => channel));
    expect(reached.toSorted((a, b) => a - b)).toEqual(channels);
  });
  expect(new Set(seen).size).toBe(channels.length);
});

it('hosts share a chosen source port, which is free again once they are complete', async () => {
  const { port, seen } = await service();
  const source = createSocket('udp4');
  await new Promise<void>((resolve) => source.bind(0, resolve));
  const chosen = source.address().port;
  source.close();
  const sockets = open({ family: 4, device: '', source: null, deviceSource: null, port: chosen });
  const bytes = Buffer.from('x');
  for (const round of [1, 2]) {
    const channels = [enter(sockets), enter(sockets)];
    sockets.send(channels.map((channel) => ({ address: localhost, scopeId: 0, port, channel, bytes })));
    await vi.waitFor(() => expect(seen).toEqual(Array(2 * round).fill(chosen)));
    for (const channel of channels) sockets.leave(channel);
    await new Promise<void>((resolve) => {
      const other = createSocket('udp4').bind(chosen, () => other.close(resolve));
    });
  }
});
