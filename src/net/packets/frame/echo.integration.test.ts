import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { rawObstacle } from '../linux/rights.ts';
import {
  type EchoReply,
  type EchoRequest,
  EchoSocket,
  expectedNonce,
  randomNonce,
  readEchoReply,
} from './echo.ts';

const request = (more: Partial<EchoRequest>): EchoRequest => ({
  type: 'timestamp',
  address: Uint8Array.of(127, 0, 0, 1),
  scopeId: 0,
  sequence: 7,
  attempt: 0,
  nonce: randomNonce(),
  ...more,
});

function opened(): EchoSocket {
  const socket = EchoSocket.open(4, null);
  if ('reason' in socket) throw new Error(socket.reason);
  return socket;
}

async function received(socket: EchoSocket): Promise<EchoReply[]> {
  await sleep(20);
  // The memory of a reply is written anew by the next call.
  return [...socket.receive()].flatMap((reply) =>
    'nonce' in reply ? [{ ...reply, nonce: Uint8Array.from(reply.nonce) }] : [],
  );
}

describe.runIf(rawObstacle() === null)('EchoSocket', () => {
  it('gets from a timestamp what was put into its request', async () => {
    const socket = opened();
    const requests = [0, 1, 21, 31].map((attempt) => request({ attempt, sequence: 100 + attempt }));
    expect(socket.send(requests)).toEqual({ done: 4, sent: 4, refusals: [] });
    const replies = await received(socket);
    expect(replies.map(({ type, sequence, attempt }) => [type, sequence, attempt])).toEqual(
      requests.map(({ sequence, attempt }) => ['timestamp', sequence, attempt]),
    );
    for (const [at, sent] of requests.entries())
      expect(Buffer.from(replies[at]?.nonce ?? [])).toEqual(Buffer.from(expectedNonce(sent)));
    socket.close();
  });

  it('distinguishes requests with one sequence number by nonce and ignores replies to other sockets', async () => {
    const [socket, other] = [opened(), opened()];
    const [first, second] = [request({}), request({ nonce: Uint8Array.of(1, 2, 3, 32, 0, 0, 0, 0) })];
    socket.send([first]);
    const [reply] = await received(socket);
    expect(await received(other)).toEqual([]);
    expect(Buffer.from(reply?.nonce ?? [])).not.toEqual(Buffer.from(expectedNonce(second)));
    socket.close();
    other.close();
  });

  it('sends both types in one call, each at its length', async () => {
    const socket = opened();
    socket.send([request({}), request({ type: 'echo', attempt: 3, sequence: 8 }), request({ sequence: 9 })]);
    const replies = await received(socket);
    expect(replies.map(({ type, attempt, sequence }) => [type, attempt, sequence])).toEqual([
      ['timestamp', 0, 7],
      ['echo', 3, 8],
      ['timestamp', 0, 9],
    ]);
    socket.close();
  });
});

describe('messages', () => {
  const id = 0xbeef;
  const header = Buffer.from(`4500005400000000400100007f0000017f000001`, 'hex');
  const nonce = Buffer.from('0102030405060708', 'hex');
  /** A reply to the third try with sequence number 7. */
  const reply = (type: number, first = '00000003') =>
    Buffer.concat([Buffer.from(`${type.toString(16).padStart(2, '0')}000000beef0007${first}`, 'hex'), nonce]);
  const echo = { type: 'echo', sequence: 7, attempt: 3, nonce };
  const timestamp = { type: 'timestamp', sequence: 7, attempt: 3, nonce: Buffer.from('01020300', 'hex') };
  const kinds = [
    { family: 4, method: 'raw', data: Buffer.concat([header, reply(0)]), says: echo },
    { family: 4, method: 'raw', data: Buffer.concat([header, reply(14, '81020303')]), says: timestamp },
    { family: 4, method: 'datagram', data: reply(0), says: echo },
    { family: 6, method: 'raw', data: reply(129), says: echo },
    { family: 6, method: 'datagram', data: reply(129), says: echo },
  ] as const;

  it.each(kinds)(
    'reads a $says.type reply of IPv$family from a $method socket, whole or not at all',
    (kind) => {
      expect(readEchoReply(kind.data, { ...kind, id })).toEqual(kind.says);
      for (let length = 0; length < kind.data.length; length++)
        expect(readEchoReply(kind.data.subarray(0, length), { ...kind, id })).toBeNull();
    },
  );

  it.each(kinds)('drops what has another type or identifier: IPv$family, $method', (kind) => {
    const start = kind.data.length - 20;
    const withByte = (at: number, byte: number) => {
      const data = Buffer.from(kind.data);
      data[start + at] = byte;
      return readEchoReply(data, { ...kind, id });
    };
    // Requests, and an unreachable.
    for (const type of [8, 13, 3, 128, 1]) expect(withByte(0, type)).toBeNull();
    expect(withByte(4, 0)).toEqual(kind.method === 'raw' ? null : kind.says);
  });

  it.each([0, 1, 4, 6, 15])('drops an IPv4 header that says %i words and has 5', (words) => {
    const data = Buffer.from(kinds[0].data);
    data[0] = 0x40 | words;
    expect(readEchoReply(data, { ...kinds[0], id })).toBeNull();
  });

  it('drops an IPv4 header of 4 words, although a reply follows', () => {
    const data = Buffer.concat([header.subarray(0, 16), reply(0)]);
    data[0] = 0x44;
    expect(readEchoReply(data, { ...kinds[0], id })).toBeNull();
  });

  it.each(kinds)('reads 100,000 mutated messages: IPv$family, $method, $says.type', (kind) => {
    let state = 0x5eed;
    const random = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 8;
    const taken = { read: 0, dropped: 0 };
    for (let round = 0; round < 100_000; round++) {
      const whole = Buffer.concat([kind.data, Buffer.alloc(random() % 60)]);
      const data = random() % 2 === 0 ? whole : whole.subarray(0, random() % (whole.length + 1));
      for (let left = random() % 5; left > 0 && data.length > 0; left--)
        data[random() % data.length] = random();
      const read = readEchoReply(data, { ...kind, id });
      taken[read ? 'read' : 'dropped'] += 1;
      if (!read) continue;
      const { type, sequence, attempt, nonce } = read;
      const isWhole = nonce.length === (type === 'echo' ? 8 : 4) && attempt >= 0 && sequence <= 0xffff;
      const isKnown = type === 'echo' || (type === 'timestamp' && kind.family === 4 && attempt < 32);
      if (!isWhole || !isKnown) throw new Error(`round ${round}: ${data.toString('hex')}`);
    }
    expect(Math.min(taken.read, taken.dropped)).toBeGreaterThan(5000);
  });
});
