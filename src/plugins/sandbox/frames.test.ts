import { describe, expect, it } from 'vitest';
import { encodeFrame, FrameReader } from './frames.ts';

function head(json: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeUInt32LE(json, 0);
  buffer.writeUInt32LE(bytes, 4);
  return buffer;
}

describe('frames', () => {
  it.each([1, 3, 7, 1000])('come out whole when they come in pieces of %i bytes', (size) => {
    const wire = Buffer.concat([
      encodeFrame({ id: 1 }, Buffer.from('abc')),
      encodeFrame({ id: 2, text: 'ä' }),
      encodeFrame(null, Buffer.alloc(200, 7)),
    ]);
    const reader = new FrameReader(1024);
    const frames = [];
    for (let at = 0; at < wire.length; at += size) frames.push(...reader.push(wire.subarray(at, at + size)));
    expect(frames.map(({ message, bytes }) => [message, bytes.length])).toEqual([
      [{ id: 1 }, 3],
      [{ id: 2, text: 'ä' }, 0],
      [null, 200],
    ]);
  });

  it('grow past the first buffer', () => {
    const bytes = Buffer.alloc(300_000, 'xyz');
    const wire = encodeFrame({}, bytes);
    const reader = new FrameReader(400_000);
    const frames = [];
    for (let at = 0; at < wire.length; at += 10_000)
      frames.push(...reader.push(wire.subarray(at, at + 10_000)));
    expect(frames[0]?.bytes.equals(bytes)).toBe(true);
  });

  it.each([
    [101, 0],
    [0, 101],
    [60, 60],
    [0xffff_ffff, 0xffff_ffff],
    [0xffff_ffff, 1],
  ])('of lengths %i and %i are refused at the head', (json, bytes) => {
    expect(() => new FrameReader(100).push(head(json, bytes))).toThrow(/above the limit of 100/);
  });

  it('at the limit pass', () => {
    const wire = encodeFrame('x', Buffer.alloc(97));
    expect(new FrameReader(100).push(wire)).toHaveLength(1);
  });

  it('without valid JSON are refused, also empty ones', () => {
    expect(() => new FrameReader(100).push(head(0, 0))).toThrow(/valid JSON/);
    expect(() => new FrameReader(100).push(Buffer.concat([head(2, 0), Buffer.from('{x')]))).toThrow(
      /valid JSON/,
    );
  });
});
