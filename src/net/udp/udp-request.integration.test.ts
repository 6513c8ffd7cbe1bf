import { createSocket, type Socket } from 'node:dgram';
import { afterEach, describe, expect, it } from 'vitest';
import { loopbackGate } from '../../../test/module-trial.ts';
import { inVirtualTime } from '../../../test/virtual-time.ts';

const servers: Socket[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A UDP server on a free port. @param responses datagrams that answer each question */
async function server(
  responses: (request: Buffer, count: number) => string[],
): Promise<{ port: number; heard: Buffer[] }> {
  const socket = createSocket('udp4');
  servers.push(socket);
  const received: Buffer[] = [];
  socket.on('message', (request, { address, port }) => {
    received.push(request);
    for (const response of responses(request, received.length)) socket.send(response, port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { port: socket.address().port, heard: received };
}

const send = (port: number, more: object = {}, host = '127.0.0.1', gate = loopbackGate(['127.0.0.1'])) =>
  gate.askUdp(host, port, Buffer.from('hello'), {
    timeoutMs: 300,
    retries: 0,
    signal: new AbortController().signal,
    looksLike: () => true,
    ...more,
  });

describe('a UDP request', () => {
  it('returns the response and skips datagrams that do not match', async () => {
    const { port } = await server((request) => ['noise', `re: ${request}`]);
    const response = await send(port, { looksLike: (bytes: Uint8Array) => bytes[0] === 0x72 });
    expect(String(response)).toBe('re: hello');
  });

  it('is retried without a response, and each packet counts', async () => {
    const { port, heard: received } = await server((_request, count) => (count < 3 ? [] : ['at last']));
    const gate = loopbackGate(['127.0.0.1']);
    expect(String(await send(port, { retries: 3 }, '127.0.0.1', gate))).toBe('at last');
    expect(received).toHaveLength(3);
    expect(gate.packetsSent).toBe(3);
  });

  it('ends at its time, at a refusal and at an abort', async () => {
    const silent = await server(() => []);
    const { result, ms } = await inVirtualTime(() => send(silent.port));
    expect(result).toBeNull();
    expect(ms).toBeLessThan(1000);
    const gone = await server(() => []);
    servers.pop()?.close();
    expect(await send(gone.port)).toBeNull();
    const controller = new AbortController();
    const pending = send(silent.port, { timeoutMs: 60_000, signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    expect(await pending).toBeNull();
  });

  it('never leaves the scope', async () => {
    const { port, heard: received } = await server(() => ['x']);
    const gate = loopbackGate(['127.0.0.2']);
    expect(await send(port, {}, '127.0.0.1', gate)).toBeNull();
    expect(received).toHaveLength(0);
    expect(gate.packetsSent).toBe(0);
  });

  it('limits the size of the response', async () => {
    const { port } = await server(() => ['x'.repeat(20_000)]);
    expect((await send(port))?.length).toBe(4096);
  });
});
