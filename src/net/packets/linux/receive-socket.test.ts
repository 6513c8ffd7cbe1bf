import { describe, expect, it } from 'vitest';
import { makeRing, ReceiveSocket } from './receive-socket.ts';
import { rawObstacle } from './rights.ts';
import { loadSys, type Sys, u32 } from './sys.ts';

const rxRing = 5;
const mebibyte = 1024 * 1024;

/** Number of blocks in a ring request. */
const blocksOf = (request: Uint8Array) => Buffer.from(request).readUInt32LE(4);

describe.runIf(rawObstacle() === null)('the ring of a packet socket of the kernel', () => {
  /** A packet socket with version 3 of the ring, and the requests it received. */
  function socket(): { fd: number; sys: Sys; asked: number[] } {
    const real = loadSys();
    const fd = real.socket(17, 2, 0);
    expect(real.setsockopt(fd, 263, 10, u32(2), 4)).toBe(0);
    const asked: number[] = [];
    const sys = {
      ...real,
      setsockopt: (at: number, level: number, name: number, value: Uint8Array, length: number) => {
        if (name === rxRing) asked.push(blocksOf(value));
        return real.setsockopt(at, level, name, value, length);
      },
    };
    return { fd, sys, asked };
  }

  it('has 8 MiB where there is memory', () => {
    const { fd, sys, asked } = socket();
    expect(makeRing(sys, fd).bytes.length).toBe(8 * mebibyte);
    expect(asked).toEqual([32]);
    sys.close(fd);
  });

  it('is smaller where so much cannot be mapped', () => {
    const { fd, sys, asked } = socket();
    const mapped = (at: number, bytes: number) => {
      if (bytes > 3 * mebibyte) throw new Error(`mmap of ${bytes} bytes failed: ENOMEM`);
      return sys.mapped(at, bytes);
    };
    expect(makeRing({ ...sys, mapped }, fd).bytes.length).toBe(2 * mebibyte);
    // The kernel gave each of them, and took it back.
    expect(asked).toEqual([32, 0, 16, 0, 8]);
    sys.close(fd);
  });

  it('is smaller where the kernel refuses so much', () => {
    const { fd, sys } = socket();
    const setsockopt: Sys['setsockopt'] = (at, level, name, value, length) =>
      name === rxRing && blocksOf(value) > 4 ? -1 : sys.setsockopt(at, level, name, value, length);
    expect(makeRing({ ...sys, setsockopt, errno: () => 12 }, fd).bytes.length).toBe(mebibyte);
    sys.close(fd);
  });

  it('is no ring at all on a socket that takes none, and the error says so', () => {
    // A true refusal: the second ring of a socket whose first one is mapped.
    const { fd, sys, asked } = socket();
    makeRing(sys, fd);
    expect(() => makeRing(sys, fd)).toThrow('cannot allocate the packet ring: errno 16');
    expect(asked).toEqual([32, 32, 16, 8, 4]);
    sys.close(fd);
  });

  it('is attached to a socket that receives', () => {
    const listening = new ReceiveSocket(1);
    expect(listening.ring.bytes.length).toBe(8 * mebibyte);
    expect(listening.figures()).toEqual({ received: 0, dropped: 0 });
  });
});

it('ends with an error that says what is lacking when nothing is given', () => {
  const tried: number[] = [];
  const setsockopt: Sys['setsockopt'] = (_fd, _level, _name, value) => {
    tried.push(blocksOf(value));
    return -1;
  };
  const mapped = () => {
    throw new Error('nothing to map');
  };
  expect(() => makeRing({ setsockopt, mapped, errno: () => 12 }, 3)).toThrow(
    'cannot allocate the packet ring: ENOMEM',
  );
  expect(tried).toEqual([32, 16, 8, 4]);
});
