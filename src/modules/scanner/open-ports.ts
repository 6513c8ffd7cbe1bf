import type { Port, PortCounts } from '../../domain/host.ts';
import type { UnidentifiedReason } from '../../domain/text/banner.ts';
import { onAbort } from '../../net/abort.ts';
import { HostEvidence, type PortSign } from './host-evidence.ts';

/** An open port. */
export interface PlannedPort extends Pick<Port, 'host' | 'port' | 'protocol'> {
  /** Why it is only listed, or null: it is probed. */
  skipped: UnidentifiedReason | null;
  /** Reports its first bytes. */
  first?(sign: PortSign): void;
  /** Reports that its probes have ended. @param sign null = it could not be reached */
  end?(sign: PortSign | null): void;
}

interface OpenPortsInput {
  ports: AsyncIterable<Port>;
  /** How sweeps ended, or null if no module says it. */
  counts: AsyncIterable<PortCounts> | null;
  /** Whether nothing is ever sent to a port. */
  isUntouchable(port: number): boolean;
  /** Called once for each host, when all of its open ports are done. */
  onVerdict(host: string, evidence: HostEvidence): Promise<void>;
  signal: AbortSignal;
}

/**
 * The open ports as they arrive. As long as a host shows signs of life, all of its ports are probed; a host that shows
 * none gets probes of 64 ports, and its others are only listed.
 */
export class OpenPorts {
  readonly #input: OpenPortsInput;
  readonly #hosts = new Map<string, HostEvidence>();
  readonly #planned: PlannedPort[] = [];
  #held = 0;
  #wake: () => void = () => undefined;
  /** Verdicts that are being published. */
  readonly #verdicts = new Set<Promise<void>>();
  readonly #counted: Promise<void>;
  #failure: unknown = null;

  constructor(input: OpenPortsInput) {
    this.#input = input;
    // If the sweep failed, its hosts stay without counts.
    this.#counted = this.#followCounts().catch(() => undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<PlannedPort> {
    const { ports, signal } = this.#input;
    const source = ports[Symbol.asyncIterator]();
    let arrived: { result: IteratorResult<Port> } | { error: unknown } | null = null;
    const pull = () => {
      source.next().then(
        (result) => {
          arrived = { result };
          this.#wake();
        },
        (error: unknown) => {
          arrived = { error };
          this.#wake();
        },
      );
    };
    const release = onAbort(signal, () => this.#wake());
    let ended = false;
    try {
      pull();
      while (!signal.aborted && !(ended && this.#held === 0 && this.#planned.length === 0)) {
        const planned = this.#planned.shift();
        if (planned) {
          yield planned;
          continue;
        }
        const next = arrived as { result: IteratorResult<Port> } | { error: unknown } | null;
        arrived = null;
        if (next === null) await this.#change();
        else if ('error' in next) throw next.error;
        else if (next.result.done) ended = true;
        else {
          this.#take(next.result.value);
          pull();
        }
      }
    } finally {
      release();
    }
  }

  /** Waits for the verdicts of all hosts. */
  async finish(): Promise<void> {
    await this.#counted;
    for (const host of this.#hosts.keys()) this.#decide(host);
    await Promise.all(this.#verdicts);
    if (this.#failure) throw this.#failure;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #evidenceOf(host: string): HostEvidence {
    const evidence = this.#hosts.get(host) ?? new HostEvidence();
    this.#hosts.set(host, evidence);
    return evidence;
  }

  #take(port: Port): void {
    if (port.protocol === 'udp') {
      const probed = port.state === 'open' && !this.#input.isUntouchable(port.port);
      // One that was silent to the scanner would be silent now.
      if (probed) this.#planned.push({ ...port, skipped: null });
      return;
    }
    const evidence = this.#evidenceOf(port.host);
    evidence.seen += 1;
    if (this.#input.isUntouchable(port.port)) {
      evidence.done += 1;
      this.#planned.push({ ...port, skipped: 'fragile' });
      this.#decideIfDone(port.host, evidence);
      return;
    }
    evidence.held.push(port);
    this.#held += 1;
    this.#release(port.host, evidence);
  }

  /** Plans the held ports for which there is room, and lists the others once no probe can make any. */
  #release(host: string, evidence: HostEvidence): void {
    const before = evidence.held.length;
    while (evidence.held.length > 0 && (evidence.hasRoom || evidence.isIdle)) {
      const port = evidence.held.shift() as Port;
      if (evidence.hasRoom) this.#probe(port, evidence);
      else {
        evidence.left += 1;
        evidence.done += 1;
        this.#planned.push({ ...port, skipped: evidence.whyLeft });
      }
    }
    this.#held -= before - evidence.held.length;
    this.#decideIfDone(host, evidence);
    this.#wake();
  }

  #probe(port: Port, evidence: HostEvidence): void {
    evidence.begin();
    const end = (sign: PortSign | null) => {
      evidence.end(port, sign);
      evidence.done += 1;
      this.#release(port.host, evidence);
    };
    const first = (sign: PortSign) => {
      evidence.noteFirst(port, sign);
      this.#release(port.host, evidence);
    };
    this.#planned.push({ ...port, skipped: null, first, end });
  }

  async #followCounts(): Promise<void> {
    for await (const counts of this.#input.counts ?? []) {
      if (counts.protocol !== 'tcp' || counts.open === 0) continue;
      const evidence = this.#evidenceOf(counts.host);
      evidence.counts = counts;
      this.#decideIfDone(counts.host, evidence);
    }
  }

  #decideIfDone(host: string, { counts, done, held, isIdle }: HostEvidence): void {
    if (counts && isIdle && held.length === 0 && done >= counts.open) this.#decide(host);
  }

  #decide(host: string): void {
    const evidence = this.#hosts.get(host);
    if (!evidence || this.#input.signal.aborted) return;
    this.#hosts.delete(host);
    const verdict = this.#input
      .onVerdict(host, evidence)
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => this.#verdicts.delete(verdict));
    this.#verdicts.add(verdict);
  }
}
