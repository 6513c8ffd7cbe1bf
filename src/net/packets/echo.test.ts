import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type EchoReply, type EchoRequest, EchoSocket, expectedNonce, randomNonce } from './echo.ts';
import { rawObstacle } from './rights.ts';

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
  const socket = EchoSocket.open(4);
  if ('reason' in socket) throw new Error(socket.reason);
  return socket;
}

async function heard(socket: EchoSocket): Promise<EchoReply[]> {
  await sleep(20);
  // The memory of a reply is written anew by the next call.
  return [...socket.receive()].map((reply) => ({ ...reply, nonce: Uint8Array.from(reply.nonce) }));
}

describe.runIf(rawObstacle() === null)('EchoSocket', () => {
  it('gets from a timestamp what was put into its request', async () => {
    const socket = opened();
    const requests = [0, 1, 21, 31].map((attempt) => request({ attempt, sequence: 100 + attempt }));
    expect(socket.send(requests)).toEqual({ done: 4, sent: 4, refusals: [] });
    const replies = await heard(socket);
    expect(replies.map(({ type, sequence, attempt }) => [type, sequence, attempt])).toEqual(
      requests.map(({ sequence, attempt }) => ['timestamp', sequence, attempt]),
    );
    for (const [at, sent] of requests.entries())
      expect(Buffer.from(replies[at]?.nonce ?? [])).toEqual(Buffer.from(expectedNonce(sent)));
    socket.close();
  });

  it('tells requests of one sequence number apart by their nonce, and hears no answer of another socket', async () => {
    const [socket, other] = [opened(), opened()];
    const [first, second] = [request({}), request({ nonce: Uint8Array.of(1, 2, 3, 32, 0, 0, 0, 0) })];
    socket.send([first]);
    const [reply] = await heard(socket);
    expect(await heard(other)).toEqual([]);
    expect(Buffer.from(reply?.nonce ?? [])).not.toEqual(Buffer.from(expectedNonce(second)));
    socket.close();
    other.close();
  });

  it('sends both types in one call, each at its length', async () => {
    const socket = opened();
    socket.send([request({}), request({ type: 'echo', attempt: 3, sequence: 8 }), request({ sequence: 9 })]);
    const replies = await heard(socket);
    expect(replies.map(({ type, attempt, sequence }) => [type, attempt, sequence])).toEqual([
      ['timestamp', 0, 7],
      ['echo', 3, 8],
      ['timestamp', 0, 9],
    ]);
    socket.close();
  });
});
