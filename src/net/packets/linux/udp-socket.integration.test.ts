import { createSocket, type Socket } from 'node:dgram';
import { afterEach, describe, expect, it } from 'vitest';
import { readQueuedError } from './error-queue.ts';
import { type Datagram, UdpSocket } from './udp-socket.ts';

const services: Socket[] = [];
const opened: UdpSocket[] = [];

afterEach(() => {
  for (const socket of services.splice(0)) socket.close();
  for (const socket of opened.splice(0)) socket.close();
});

const localhost = {
  4: Uint8Array.of(127, 0, 0, 1),
  6: Uint8Array.from({ length: 16 }, (_, at) => +(at === 15)),
};

function open(family: 4 | 6): UdpSocket {
  const socket = UdpSocket.open(family, null);
  if (!(socket instanceof UdpSocket)) throw new Error('no socket');
  opened.push(socket);
  return socket;
}

async function echoService(family: 4 | 6): Promise<Omit<Datagram, 'bytes'>> {
  const socket = createSocket(family === 4 ? 'udp4' : 'udp6');
  services.push(socket);
  socket.on('message', (bytes, { port, address }) => socket.send(bytes, port, address));
  await new Promise<void>((resolve) => socket.bind(0, family === 4 ? '127.0.0.1' : '::1', resolve));
  return { address: localhost[family], channel: 0, scopeId: 0, port: socket.address().port };
}

function send(socket: UdpSocket, datagrams: Datagram[]) {
  const refused = new Map<number, string>();
  return { done: socket.send(datagrams, 0, datagrams.length, refused), refused };
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 50));

describe.each([4, 6] as const)('a UDP socket of IPv%i', (family) => {
  it('returns the response and its source endpoint', async () => {
    const service = await echoService(family);
    const socket = open(family);
    expect(send(socket, [{ ...service, bytes: Buffer.from('hello') }]).done).toBe(1);
    await soon();
    const [response] = socket.answers();
    expect(response?.bytes.toString()).toBe('hello');
    expect({ port: response?.port, address: [...(response?.address ?? [])] }).toEqual({
      port: service.port,
      address: [...localhost[family]],
    });
  });

  it('keeps 512 bytes of a response and sends at most 1232', async () => {
    const service = await echoService(family);
    const socket = open(family);
    send(socket, [{ ...service, bytes: Buffer.alloc(1200, 'a') }]);
    await soon();
    expect(socket.answers().map(({ bytes }) => bytes.toString())).toEqual(['a'.repeat(512)]);
  });

  it('sends a datagram although an error about an earlier one waits', async () => {
    const service = await echoService(family);
    const socket = open(family);
    send(socket, [{ address: localhost[family], channel: 0, scopeId: 0, port: 1, bytes: Buffer.from('x') }]);
    await soon();
    const late = send(socket, [{ ...service, bytes: Buffer.from('late') }]);
    expect([late.done, late.refused.size]).toEqual([1, 0]);
    await soon();
    expect(socket.answers()).toHaveLength(1);
    expect(socket.errors()).toMatchObject([{ port: 1 }]);
  });

  it('reports each closed port, and an error about one datagram blocks no other', async () => {
    const service = await echoService(family);
    const socket = open(family);
    const closed = Array.from({ length: 40 }, (_, at) => ({
      address: localhost[family],
      channel: 0,
      scopeId: 0,
      port: at + 1,
      bytes: Buffer.from('x'),
    }));
    const batch = closed.flatMap((datagram, at) => [datagram, { ...service, bytes: Buffer.from([at]) }]);
    const [first, second] = [send(socket, batch.slice(0, 40)), send(socket, batch.slice(40))];
    expect([first, second].map(({ done, refused }) => [done, refused.size])).toEqual([
      [40, 0],
      [40, 0],
    ]);
    await soon();
    const responses = socket.answers().map(({ bytes }) => bytes[0]);
    expect(responses).toEqual(closed.map((_datagram, at) => at));
    // The kernel limits its own errors, too; each is reported once, and all are of that kind.
    const errors = socket.errors();
    expect(new Set(errors.map(({ port }) => port)).size).toBe(errors.length);
    expect(errors.length).toBeGreaterThan(0);
    for (const { type, code } of errors) expect([type, code]).toEqual(family === 4 ? [3, 3] : [1, 4]);
  });
});

it('names what keeps a datagram from leaving', () => {
  // Nothing can be sent to port 0.
  const nowhere = { address: localhost[4], channel: 0, scopeId: 0, port: 0, bytes: Buffer.from('x') };
  const somewhere = { ...nowhere, port: 9 };
  expect(send(open(4), [somewhere, nowhere, somewhere])).toEqual({
    done: 3,
    refused: new Map([[1, 'EINVAL']]),
  });
});

describe.each([
  { family: 4, level: 0, name: 11, origin: 2, type: 3, code: 3 },
  { family: 6, level: 41, name: 25, origin: 3, type: 1, code: 4 },
] as const)('control data of an error about IPv$family', ({ family, level, name, origin, type, code }) => {
  const control = Buffer.alloc(60);
  control.writeUInt32LE(60, 0);
  control.writeUInt32LE(level, 8);
  control.writeUInt32LE(name, 12);
  control.set([111, 0, 0, 0, origin, type, code], 16);

  it('is read whole or not at all', () => {
    for (let length = 0; length <= control.length; length++)
      expect(readQueuedError(control.subarray(0, length), family)).toEqual(
        length < 32 ? null : { type, code, from: null },
      );
  });

  it('names the sender if it is there', () => {
    const sender = Buffer.from(control);
    const bytes = family === 4 ? [10, 0, 0, 254] : [0xfd, ...Array(14).fill(0), 1];
    sender.writeUInt16LE(family === 4 ? 2 : 10, 32);
    sender.set(bytes, 32 + (family === 4 ? 4 : 8));
    expect(readQueuedError(sender, family)?.from).toEqual(Buffer.from(bytes));
  });

  it.each([
    ['another level', 8, 1],
    ['another kind', 12, 8],
    ['an error of this machine', 20, 1],
    ['an error of nobody', 20, 0],
  ])('ignores an ICMP error with %s', (_name, at, byte) => {
    const other = Buffer.from(control);
    other[at] = byte;
    expect(readQueuedError(other, family)).toBeNull();
  });

  it('is read 100,000 times with any faults', () => {
    let state = 0x5eed;
    const random = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 8;
    let errors = 0;
    for (let round = 0; round < 100_000; round++) {
      const data = Buffer.from(control).subarray(0, random() % 2 === 0 ? 60 : random() % 61);
      for (let left = random() % 3; left > 0 && data.length > 0; left--)
        data[random() % data.length] = random();
      const error = readQueuedError(data, family);
      if (!error) continue;
      errors += 1;
      if (data.length < 32 || error.type !== data[21] || error.code !== data[22])
        throw new Error(`round ${round}: ${data.toString('hex')}`);
    }
    expect(errors).toBeGreaterThan(5000);
    expect(errors).toBeLessThan(95_000);
  });
});
