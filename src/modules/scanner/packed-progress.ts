import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type ChunkState, maxChunkEndpoints } from '../../net/packets/engine/chunk.ts';
import type { RejectionKind } from '../../net/packets/engine/rejection-table.ts';
import type { PermutationKey } from '../../net/packets/frame/permutation.ts';
import type { SweepProgress } from '../../net/tcp/sweep-job.ts';

type ProgressPart = SweepProgress['parts'][number];

/** A part of a sweep in a checkpoint: bits and counts deflated, in base64. */
export interface PackedPart {
  hosts: string[];
  key: PermutationKey;
  counter: number;
  settled: string;
  counts: string;
  silent?: string;
  waiting?: string;
  rejections?: { kinds: RejectionKind[]; of: string };
}

export function packed({ hosts, key, state }: ProgressPart): PackedPart {
  const { open, closed, rejected, unsent } = state.counts;
  const lists = [open, closed, rejected, unsent, ...(state.late ? [state.late] : [])];
  // A buffer from another process may be part of a larger one.
  const counts = Buffer.concat(
    lists.map((list) => Buffer.from(list.buffer, list.byteOffset, list.byteLength)),
  );
  return {
    hosts,
    key,
    counter: state.counter,
    settled: deflated(state.settled),
    counts: deflated(counts),
    ...(state.silent && { silent: deflated(state.silent) }),
    ...(state.waiting && { waiting: deflated(state.waiting) }),
    ...(state.rejections && {
      rejections: { kinds: state.rejections.kinds, of: deflated(state.rejections.of) },
    }),
  };
}

/** In buffers as small as most results; those of zlib have 16 KiB each, and live until the next garbage collection. */
function deflated(bytes: Uint8Array): string {
  return deflateRawSync(bytes, { chunkSize: 1024 }).toString('base64');
}

/** @throws Error if it was not made by `packed` */
export function unpacked({
  hosts,
  key,
  counter,
  settled,
  counts,
  silent,
  waiting,
  rejections,
}: PackedPart): ProgressPart {
  const bytes = inflateRawSync(Buffer.from(counts, 'base64'), { maxOutputLength: 64 * hosts.length });
  const words = new Uint32Array(Uint8Array.from(bytes).buffer);
  const list = (at: number) => words.slice(at * hosts.length, (at + 1) * hosts.length);
  const state: ChunkState = {
    counter,
    settled: unpackedBits(settled),
    counts: {
      probed: new Uint32Array(hosts.length),
      open: list(0),
      closed: list(1),
      rejected: list(2),
      unsent: list(3),
    },
    ...(words.length === 5 * hosts.length && { late: list(4) }),
    ...(silent !== undefined && { silent: unpackedBits(silent) }),
    ...(waiting !== undefined && { waiting: unpackedBits(waiting) }),
    ...(rejections && { rejections: { kinds: rejections.kinds, of: unpackedBits(rejections.of) } }),
  };
  return { hosts, key, state };
}

function unpackedBits(packedBits: string): Uint8Array {
  const bits = inflateRawSync(Buffer.from(packedBits, 'base64'), { maxOutputLength: maxChunkEndpoints });
  return Uint8Array.from(bits);
}
