import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { RejectedPorts } from '../../domain/host.ts';
import {
  type PermutationKey,
  permutation,
  randomPermutationKey,
} from '../../net/packets/frame/permutation.ts';
import type { SweepJob, SweepOutcome, SweepProgress } from '../../net/tcp/sweep-job.ts';
import { type PackedPart, packed, unpacked } from './packed-progress.ts';

/** Initial probes per second to one host; each further pass has half of it. */
const firstRate = 20;
const lastRate = 5;

/** Maximum number of silent ports per host that are retried slowly: some 3 minutes. */
export const maxSlowProbes = 3600;

/** Maximum number of concurrent slow retries: if more hosts drop probes, the path to them does. */
export const maxSlowHosts = 64;

/** Probes that decide whether a slower pass helps, and probes between two checks after that. */
const sampleSize = 32;

/** Progress of an interrupted sample, and a callback for its progress. */
export type SampleProgress = Pick<SweepJob, 'restored' | 'onState'>;

/**
 * Probes ports of the host, once each, and waits for their responses.
 * @param perSecond probes per second
 * @returns the outcome, with the ports that stayed silent
 */
export type SlowProbe = (
  ports: readonly number[],
  perSecond: number,
  progress: SampleProgress,
) => Promise<Pick<SweepOutcome, 'open' | 'closed' | 'silent' | 'rejections'> | undefined>;

/** Progress of the slow retry of a host in a checkpoint. */
export interface SlowRetryState {
  /** Key of the permutation of its silent ports. */
  key: PermutationKey;
  /** Digest of these ports; a retry of others starts anew. */
  ports: string;
  /** Rate of the current pass. */
  perSecond: number;
  /** Start position of the next sample. */
  next: number;
  /** Remaining probes. */
  budget: number;
  /** One bit per position whose port needs no further probe, deflated, in base64. */
  done: string;
  open: number;
  closed: number;
  /** The current sample. */
  sample: PackedPart[];
}

/**
 * Retries the silent ports of a host that drops probes above a certain rate, slower and slower, as long as that gets
 * responses. Continues an interrupted retry of the same ports.
 */
export class SlowRetry {
  #state: Omit<SlowRetryState, 'done' | 'sample'>;
  /** One bit per position. */
  #done = new Uint8Array(Math.ceil(maxSlowProbes / 8));
  #sample: SweepProgress | null = null;
  /** Of a sample cut off by a cancel. */
  #cutOff = { open: 0, closed: 0 };
  /** Of this run. */
  readonly #rejections: RejectedPorts[] = [];

  constructor(saved: SlowRetryState | null = null) {
    this.#state = begun();
    if (!saved) return;
    const { done, sample, ...state } = saved;
    this.#state = state;
    this.#done.set(inflateRawSync(Buffer.from(done, 'base64'), { maxOutputLength: this.#done.length }));
    if (sample.length > 0) this.#sample = { parts: sample.map(unpacked) };
  }

  state(): SlowRetryState {
    return {
      ...this.#state,
      done: deflateRawSync(this.#done).toString('base64'),
      sample: (this.#sample?.parts ?? []).map(packed),
    };
  }

  /** Silent ports found open, and closed. */
  get found(): { open: number; closed: number } {
    const { open, closed } = this.#state;
    return { open: open + this.#cutOff.open, closed: closed + this.#cutOff.closed };
  }

  /** Errors about silent ports. */
  get rejections(): readonly RejectedPorts[] {
    return this.#rejections;
  }

  /** @param silent in the same order after an interruption */
  async run(silent: readonly number[], probe: SlowProbe, signal: AbortSignal): Promise<void> {
    const ports = createHash('sha256').update(Uint16Array.from(silent)).digest('base64');
    if (this.#state.ports !== ports) this.#begin(ports);
    const state = this.#state;
    const order = Array.from(permutation(silent.length, state.key), (at) => silent[at] as number);
    for (; state.perSecond >= lastRate; state.perSecond /= 2, state.next = 0) {
      for (;;) {
        const sample = this.#nextSample(order);
        if (sample.length === 0) break;
        if (signal.aborted) return;
        await this.#probe(sample, order, probe, signal);
      }
      if (state.budget === 0) return;
    }
  }

  #begin(ports: string): void {
    this.#state = { ...begun(), ports };
    this.#done.fill(0);
    this.#sample = null;
  }

  /** Positions of the ports to probe next. */
  #nextSample(order: readonly number[]): number[] {
    const { next, budget } = this.#state;
    const length = Math.min(order.length, maxSlowProbes);
    const most = Math.min(sampleSize, budget);
    const sample: number[] = [];
    for (let at = next; at < length && sample.length < most; at++) if (!this.#isDone(at)) sample.push(at);
    return sample;
  }

  async #probe(
    sample: readonly number[],
    order: readonly number[],
    probe: SlowProbe,
    signal: AbortSignal,
  ): Promise<void> {
    const state = this.#state;
    const ports = sample.map((at) => order[at] as number);
    const onState = (progress: SweepProgress) => {
      this.#sample = progress;
    };
    const outcome = await probe(ports, state.perSecond, { restored: this.#sample, onState });
    const { open, closed, silent = [] } = outcome ?? { open: 0, closed: 0 };
    if (signal.aborted) {
      this.#cutOff = { open, closed };
      return;
    }
    this.#rejections.push(...(outcome?.rejections ?? []));
    const isSilent = new Set(silent);
    for (const at of sample) if (!isSilent.has(order[at] as number)) this.#setDone(at);
    state.open += open;
    state.closed += closed;
    state.next = (sample.at(-1) as number) + 1;
    // A slower rate does not help: the ports are filtered.
    state.budget = isSilent.size === sample.length ? 0 : state.budget - sample.length;
    this.#sample = null;
  }

  #isDone(at: number): boolean {
    return ((this.#done[at >>> 3] as number) & (1 << (at & 7))) !== 0;
  }

  #setDone(at: number): void {
    this.#done[at >>> 3] = (this.#done[at >>> 3] as number) | (1 << (at & 7));
  }
}

function begun(): Omit<SlowRetryState, 'done' | 'sample'> {
  const key = randomPermutationKey();
  return { key, ports: '', perSecond: firstRate, next: 0, budget: maxSlowProbes, open: 0, closed: 0 };
}
