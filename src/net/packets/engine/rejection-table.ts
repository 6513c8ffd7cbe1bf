import type { RejectedPorts } from '../../../domain/host.ts';
import { maxNamedPorts, Rejections } from '../../../domain/port-reasons.ts';

/** An error about a probe. */
export interface RejectionKind {
  reason: string;
  icmp: { type: number; code: number } | null;
  /** Its sender; `host` = the host that was probed, null = unknown. */
  from: string | null;
}

/** Which endpoints of a chunk were rejected, and by what. */
export interface RejectionState {
  kinds: RejectionKind[];
  /** Index of the kind + 1 by endpoint; 0 = not rejected. */
  of: Uint8Array;
}

/** What a byte can tell apart; the last one is for all others. */
const maxKinds = 255;
const others: RejectionKind = { reason: 'icmp-error', icmp: null, from: null };

/** The errors about the endpoints of one chunk, a byte for each endpoint once there is one. */
export class RejectionTable {
  readonly #endpoints: number;
  readonly #kinds = new Map<string, number>();
  #state: RejectionState | null = null;
  /** The last kind: senders of errors pass the same object again as long as nothing changes. */
  #last: { kind: RejectionKind; index: number } | null = null;

  constructor(endpoints: number, restored: RejectionState | undefined) {
    this.#endpoints = endpoints;
    if (!restored) return;
    this.#state = { kinds: [...restored.kinds], of: Uint8Array.from(restored.of) };
    for (const [at, kind] of restored.kinds.entries()) this.#kinds.set(keyOf(kind), at);
  }

  note(endpoint: number, kind: RejectionKind): void {
    const state = (this.#state ??= { kinds: [], of: new Uint8Array(this.#endpoints) });
    if (this.#last?.kind !== kind) {
      const key = keyOf(kind);
      this.#last = { kind, index: this.#kinds.get(key) ?? this.#add(state, key, kind) };
    }
    state.of[endpoint] = this.#last.index + 1;
  }

  /** A copy, for who must not see later changes; undefined = nothing was rejected. */
  copy(): RejectionState | undefined {
    return this.#state === null
      ? undefined
      : { kinds: [...this.#state.kinds], of: Uint8Array.from(this.#state.of) };
  }

  #add({ kinds }: RejectionState, key: string, kind: RejectionKind): number {
    if (kinds.length === maxKinds) return maxKinds - 1;
    const index = kinds.length;
    kinds.push(index === maxKinds - 1 ? others : kind);
    this.#kinds.set(key, index);
    return index;
  }
}

function keyOf({ reason, icmp, from }: RejectionKind): string {
  return `${reason} ${icmp?.type} ${icmp?.code} ${from}`;
}

/** The rejected ports of one host of a chunk. @param at its index */
export function rejectedPorts(
  state: RejectionState | undefined,
  host: string,
  at: number,
  ports: Uint16Array,
): RejectedPorts[] {
  if (!state) return [];
  const found = new Map<number, { count: number; ports: number[] }>();
  for (const [number, port] of ports.entries()) {
    const index = (state.of[at * ports.length + number] as number) - 1;
    if (index < 0) continue;
    const kind = found.get(index) ?? { count: 0, ports: [] };
    found.set(index, kind);
    kind.count += 1;
    if (kind.ports.length < maxNamedPorts) kind.ports.push(port);
  }
  const rejections = new Rejections();
  for (const [index, counted] of found) {
    const kind = state.kinds[index] as RejectionKind;
    rejections.add({ ...kind, from: kind.from === 'host' ? host : kind.from, state: 'filtered', ...counted });
  }
  return rejections.list();
}
