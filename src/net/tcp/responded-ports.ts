import type { RejectedPorts } from '../../domain/host.ts';
import { closedPorts } from '../../domain/port-reasons.ts';
import type { ChunkState } from '../packets/engine/chunk.ts';

/**
 * The closed ports of one host of a chunk, among them the open ones: both responded.
 * @param at its index
 */
export function respondedPorts(
  { settled, silent, rejections, counts }: ChunkState,
  at: number,
  ports: Uint16Array,
): RejectedPorts[] {
  const isSet = (bits: Uint8Array | undefined, endpoint: number) =>
    (((bits?.[endpoint >>> 3] ?? 0) >> (endpoint & 7)) & 1) === 1;
  const responded = [...ports].filter((_, number) => {
    const endpoint = at * ports.length + number;
    return isSet(settled, endpoint) && !isSet(silent, endpoint) && !rejections?.of[endpoint];
  });
  const [open, closed] = [counts.open[at] as number, counts.closed[at] as number];
  return closed > 0 && responded.length === open + closed ? [closedPorts(closed, responded)] : [];
}
