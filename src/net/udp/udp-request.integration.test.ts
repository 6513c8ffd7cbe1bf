import { createSocket, type Socket } from 'node:dgram';
import { afterEach, describe, expect, it } from 'vitest';
import { loopbackGate } from '../../../test/module-trial.ts';
import { inVirtualTime } from '../../../test/virtual-time.ts';

const servers: Socket[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A UDP server on a free port. @param answers datagrams that answer each question */
async function server(
  answers: (question: Buffer, count: number) => string[],
): Promise<{ port: number; heard: Buffer[] }> {
  const socket = createSocket('udp4');
  servers.push(socket);
  const heard: Buffer[] = [];
  socket.on('message', (question, { address, port }) => {
    heard.push(question);
    for (const answer of answers(question, heard.length)) socket.send(answer, port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { port: socket.address().port, heard };
}

const ask = (port: number, more: object = {}, host = '127.0.0.1', gate = loopbackGate(['127.0.0.1'])) =>
  gate.askUdp(host, port, Buffer.from('hello'), {
    timeoutMs: 300,
    retries: 0,
    signal: new AbortController().signal,
    looksLike: () => true,
    ...more,
  });

describe('a question over UDP', () => {
  it('brings its answer, and passes over what does not fit', async () => {
    const { port } = await server((question) => ['noise', `re: ${question}`]);
    const answer = await ask(port, { looksLike: (bytes: Uint8Array) => bytes[0] === 0x72 });
    expect(String(answer)).toBe('re: hello');
  });

  it('is asked again while nothing comes, and each packet counts', async () => {
    const { port, heard } = await server((_question, count) => (count < 3 ? [] : ['at last']));
    const gate = loopbackGate(['127.0.0.1']);
    expect(String(await ask(port, { retries: 3 }, '127.0.0.1', gate))).toBe('at last');
    expect(heard).toHaveLength(3);
    expect(gate.packetsSent).toBe(3);
  });

  it('ends at its time, at a refusal and at an abort', async () => {
    const silent = await server(() => []);
    const { result, ms } = await inVirtualTime(() => ask(silent.port));
    expect(result).toBeNull();
    expect(ms).toBeLessThan(1000);
    const gone = await server(() => []);
    servers.pop()?.close();
    expect(await ask(gone.port)).toBeNull();
    const controller = new AbortController();
    const asked = ask(silent.port, { timeoutMs: 60_000, signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    expect(await asked).toBeNull();
  });

  it('never leaves the scope', async () => {
    const { port, heard } = await server(() => ['x']);
    const gate = loopbackGate(['127.0.0.2']);
    expect(await ask(port, {}, '127.0.0.1', gate)).toBeNull();
    expect(heard).toHaveLength(0);
    expect(gate.packetsSent).toBe(0);
  });

  it('keeps a bounded answer', async () => {
    const { port } = await server(() => ['x'.repeat(20_000)]);
    expect((await ask(port))?.length).toBe(4096);
  });
});
