import { crc32, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Colors of the palette; one byte a pixel. */
const paletteSize = 256;
/** Colors closer than this, in steps of red, green and blue added up, share a place of the palette. */
const closest = 10;

interface Pixels {
  width: number;
  height: number;
  /** Red, green and blue of a pixel as one number, row by row. */
  colors: Uint32Array;
}

/** The same picture with at most 256 colors: a third of the bytes. Text and lines of pages have few colors. */
export function smallPng(png: Buffer): Buffer {
  const { width, height, colors } = readPng(png);
  const counts = new Map<number, number>();
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
  const places = placesOf(counts);
  const rows = Buffer.alloc((width + 1) * height);
  for (const [index, color] of colors.entries()) {
    const row = Math.floor(index / width);
    // A byte before each row names its filter: none.
    rows[index + row + 1] = places.indexes.get(color) ?? 0;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const palette = Buffer.from(
    places.palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]),
  );
  const data = deflateSync(rows, { level: 9, memLevel: 9 });
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The most frequent colors that differ, and the nearest of them for each other one. */
function placesOf(counts: ReadonlyMap<number, number>): { palette: number[]; indexes: Map<number, number> } {
  const palette: number[] = [];
  const indexes = new Map<number, number>();
  for (const [color] of [...counts].sort(([, one], [, other]) => other - one)) {
    const nearest = nearestOf(palette, color);
    if (palette.length < paletteSize && (nearest < 0 || distance(palette[nearest] ?? 0, color) >= closest)) {
      indexes.set(color, palette.push(color) - 1);
    } else indexes.set(color, nearest);
  }
  return { palette, indexes };
}

function nearestOf(palette: readonly number[], color: number): number {
  let [nearest, least] = [-1, Number.POSITIVE_INFINITY];
  for (const [index, other] of palette.entries()) {
    const far = distance(other, color);
    if (far < least) [nearest, least] = [index, far];
  }
  return nearest;
}

function distance(one: number, other: number): number {
  const part = (shift: number) => Math.abs(((one >> shift) & 255) - ((other >> shift) & 255));
  return part(16) + part(8) + part(0);
}

/** Reads what Chromium writes: 8 bits a channel, with or without transparency, not interlaced. @throws Error for others */
function readPng(png: Buffer): Pixels {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const [depth, kind, , , interlaced] = png.subarray(24, 29);
  if (depth !== 8 || (kind !== 2 && kind !== 6) || interlaced !== 0)
    throw new Error('not a PNG of a screenshot');
  const parts: Buffer[] = [];
  for (let at = signature.length; at < png.length; at += png.readUInt32BE(at) + 12) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') {
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
    }
  }
  const channels = kind === 6 ? 4 : 3;
  const raw = unfiltered(inflateSync(Buffer.concat(parts)), width * channels, height, channels);
  const colors = new Uint32Array(width * height);
  for (let index = 0; index < colors.length; index++) colors[index] = raw.readUIntBE(index * channels, 3);
  return { width, height, colors };
}

/** The bytes before the filters of each row were applied (PNG specification, chapter 9). */
function unfiltered(data: Buffer, stride: number, height: number, channels: number): Buffer {
  const raw = Buffer.alloc(stride * height);
  for (let row = 0; row < height; row++) {
    const filter = data[row * (stride + 1)];
    for (let column = 0; column < stride; column++) {
      const at = row * stride + column;
      const left = column >= channels ? (raw[at - channels] ?? 0) : 0;
      const up = row > 0 ? (raw[at - stride] ?? 0) : 0;
      const corner = row > 0 && column >= channels ? (raw[at - stride - channels] ?? 0) : 0;
      raw[at] = (data[row * (stride + 1) + 1 + column] ?? 0) + predicted(filter, left, up, corner);
    }
  }
  return raw;
}

function predicted(filter: number | undefined, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return Math.floor((left + up) / 2);
  if (filter !== 4) return 0;
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

function chunk(name: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(content), 4);
  return Buffer.concat([ends.subarray(0, 4), content, ends.subarray(4)]);
}
