import { createSocket } from 'node:dgram';
import { afterEach, describe, expect, it } from 'vitest';
import { NameResolver } from './resolve.ts';

const { signal } = new AbortController();
const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A name server on loopback; `count` A records 127.1.0.x for every name, or silence. */
async function nameServer(count: number | null): Promise<{ address: string; asked: () => number }> {
  const socket = createSocket('udp4');
  let queryCount = 0;
  socket.on('message', (query, peer) => {
    queryCount += 1;
    if (count === null) return;
    const request = query.subarray(12, query.indexOf(0, 12) + 5);
    const isA = request.readUInt16BE(request.length - 4) === 1;
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(isA ? count : 0, 6);
    header.writeUInt16BE(0, 10);
    const responses = Array.from({ length: isA ? count : 0 }, (_, at) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 1, 0, at + 1]),
    );
    socket.send(Buffer.concat([header, request, ...responses]), peer.port, peer.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  closers.push(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, asked: () => queryCount };
}

describe('NameResolver', () => {
  it('queries the given servers, once per name', async () => {
    const server = await nameServer(2);
    const resolver = new NameResolver({ servers: [server.address] });
    const wanted = { addresses: ['127.1.0.1', '127.1.0.2'], dropped: 0 };
    expect(await resolver.resolve('a.example', signal)).toEqual(wanted);
    const queryCount = server.asked();
    expect(await resolver.resolve('a.example', signal)).toEqual(wanted);
    expect(server.asked()).toBe(queryCount);
  });

  it('takes 16 addresses of a name and counts the rest', async () => {
    const server = await nameServer(20);
    const response = await new NameResolver({ servers: [server.address] }).resolve('many.example', signal);
    expect(response).toMatchObject({ dropped: 4 });
    expect('addresses' in response && response.addresses).toHaveLength(16);
  });

  it('says why a name has no address', async () => {
    const empty = await nameServer(0);
    expect(await new NameResolver({ servers: [empty.address] }).resolve('no.example', signal)).toEqual({
      error: 'the name has no address',
    });
  });

  it('gives up at the deadline', async () => {
    const silent = await nameServer(null);
    const resolver = new NameResolver({ servers: [silent.address], timeoutMs: 150 });
    // Its own deadline ended it, not the tries of the resolver below, which take longer.
    expect(await resolver.resolve('slow.example', signal)).toEqual({
      error: 'no response from the name server within 150 ms',
    });
  });

  it('uses the resolver of the system when no server is named', async () => {
    const response = await new NameResolver().resolve('localhost', signal);
    expect('addresses' in response && response.addresses).toContain('127.0.0.1');
  });
});
