import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import type { PngLogo } from './report-template.ts';

/** Largest width and height of a logo, pixels. */
const maxSide = 4096;
/** Most pixels of a logo: a renderer decodes all of them at once. */
const maxPixels = 4 * 1024 * 1024;

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Length, type and checksum of a chunk. */
const chunkFrame = 12;
/** Bits per sample that a color type may have, and its samples per pixel (PNG, 11.2.1). */
const colorTypes: Record<number, { depths: readonly number[]; samples: number }> = {
  0: { depths: [1, 2, 4, 8, 16], samples: 1 },
  2: { depths: [8, 16], samples: 3 },
  3: { depths: [1, 2, 4, 8], samples: 1 },
  4: { depths: [8, 16], samples: 2 },
  6: { depths: [8, 16], samples: 4 },
};
/** Chunks that an image needs; all others (texts, dates, profiles, animation) are left out. */
const kept = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);

interface Chunk {
  type: string;
  data: Buffer;
  /** With its frame. */
  bytes: Buffer;
}

/** Why a file is no logo. */
export class PngProblem extends Error {}

/**
 * Checks a PNG and reduces it to its image.
 * @throws PngProblem
 */
export async function readPngLogo(file: Buffer): Promise<PngLogo> {
  if (!file.subarray(0, signature.length).equals(signature)) throw new PngProblem('is not a PNG file');
  const chunks = chunksOf(file);
  const { width, height, rowBytes } = readHeader(chunks[0] as Chunk);
  const parts = chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data);
  if (parts.length === 0) throw new PngProblem('has no image data');
  await checkPixels(Buffer.concat(parts), (rowBytes + 1) * height);
  const bytes = chunks.filter(({ type }) => kept.has(type)).map((chunk) => chunk.bytes);
  return { kind: 'png', width, height, data: Buffer.concat([signature, ...bytes]).toString('base64') };
}

function chunksOf(file: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = signature.length; chunks.at(-1)?.type !== 'IEND'; ) {
    if (at + chunkFrame > file.length) throw new PngProblem('is cut off');
    const length = file.readUInt32BE(at);
    const end = at + chunkFrame + length;
    if (end > file.length) throw new PngProblem('is cut off');
    const type = file.toString('latin1', at + 4, at + 8);
    if (chunks.length === 0 && (type !== 'IHDR' || length !== 13))
      throw new PngProblem('does not start with its size');
    if (chunks.length > 0 && type === 'IHDR') throw new PngProblem('has two images');
    // A capital first letter: nobody can show the image without it.
    if (/^[A-Z]/.test(type) && !kept.has(type)) throw new PngProblem('has a chunk of an unknown kind');
    chunks.push({ type, data: file.subarray(at + 8, end - 4), bytes: file.subarray(at, end) });
    at = end;
  }
  return chunks;
}

function readHeader({ data }: Chunk): { width: number; height: number; rowBytes: number } {
  const [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
  const [depth = 0, color = 0, compression, filter, interlace] = data.subarray(8);
  const form = Object.hasOwn(colorTypes, color) ? colorTypes[color] : undefined;
  if (!form?.depths.includes(depth) || compression !== 0 || filter !== 0)
    throw new PngProblem('has an unknown color format');
  if (interlace !== 0) throw new PngProblem('is interlaced; save it without');
  if (width === 0 || height === 0) throw new PngProblem('has no pixels');
  if (width > maxSide || height > maxSide || width * height > maxPixels) {
    throw new PngProblem(
      `has ${width} x ${height} pixels; ${maxSide} per side and ${maxPixels} in all are allowed`,
    );
  }
  return { width, height, rowBytes: Math.ceil((width * depth * form.samples) / 8) };
}

const inflated = promisify(inflate);

/** A file of a megabyte can expand to a gigabyte, whatever its header says. */
async function checkPixels(data: Buffer, expected: number): Promise<void> {
  const pixels = await inflated(data, { maxOutputLength: expected }).catch((error: NodeJS.ErrnoException) => {
    throw new PngProblem(
      error.code === 'ERR_BUFFER_TOO_LARGE' ? 'has more pixels than its size says' : 'has damaged image data',
    );
  });
  if (pixels.length !== expected) throw new PngProblem('has fewer pixels than its size says');
}
