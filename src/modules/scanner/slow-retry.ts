/** Probes per second to one host at first; each further pass has half of it. */
const firstRate = 20;
const lastRate = 5;

/** Silent ports of one host that are asked slowly, at the most: some 3 minutes. */
export const maxSlowProbes = 3600;

/** Hosts that are asked slowly at the same time, at the most: where more drop probes, it is the way to them. */
export const maxSlowHosts = 64;

/** Probes that decide whether a slower pass brings anything, and probes between two looks after that. */
const sample = 32;

/**
 * Probes ports and waits for their responses.
 * @param perSecond probes per second
 * @returns the ports that stayed silent
 */
export type SlowProbe = (ports: readonly number[], perSecond: number) => Promise<number[]>;

/**
 * Asks the silent ports of a host that drops probes above a rate of its own, slower and slower, as long as that brings
 * responses.
 * @param silent in random order
 */
export async function retrySlowly(
  silent: readonly number[],
  probe: SlowProbe,
  signal: AbortSignal,
): Promise<void> {
  let left = silent.slice(0, maxSlowProbes);
  let budget = maxSlowProbes;
  for (let rate = firstRate; rate >= lastRate && left.length > 0; rate /= 2) {
    const still: number[] = [];
    while (left.length > 0) {
      if (signal.aborted || budget <= 0) return;
      const ports = left.slice(0, Math.min(sample, budget));
      left = left.slice(ports.length);
      budget -= ports.length;
      const unanswered = await probe(ports, rate);
      // Slower brings nothing: the silence is that of a filter.
      if (unanswered.length === ports.length) return;
      still.push(...unanswered);
    }
    left = still;
  }
}
