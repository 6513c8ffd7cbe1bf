import { fileURLToPath } from 'node:url';
import { Namespace } from '../src/net/packets/fixtures/namespace.ts';
import type { ScannerOutcome, ScannerTrial } from './scanner-trial.ts';

const script = fileURLToPath(new URL('./scanner-trial.ts', import.meta.url));
const isSyn = 'tcp flags & (syn | ack) == syn';
/** Of a response that refuses. */
export const isReset = 'tcp flags & rst == rst';
/** Ports that accept, from 2000 on. */
export const listening = 50;

export interface LimitedSweep {
  /** Number of ports, from 2000 on. */
  ports: number;
  targets?: string;
  /** What becomes of probes on their way in, as rules of nft. */
  arriving?: string[];
  /** The same of responses. */
  leaving?: string[];
}

/** What a sweep found; `probes` is what the host itself counted, without what the kernel repeated. */
export interface LimitedOutcome {
  open: number;
  closed: number;
  filtered: number;
  /** Highest rate, packets per second; null = it was fixed. */
  highest: number | null;
  probes: number;
}

/** A namespace that limits what reaches its loopback, swept by a module in it. */
export class LimitedHost {
  readonly #host = new Namespace();
  readonly #module: ScannerTrial['module'];

  constructor(module: ScannerTrial['module']) {
    this.#module = module;
  }

  close(): void {
    this.#host.close();
  }

  async sweep(
    { ports, targets, arriving = [], leaving = [] }: LimitedSweep,
    rate: number | 'auto',
  ): Promise<LimitedOutcome> {
    this.#limit(arriving, leaving);
    const only = this.#module === 'syn_scanner' ? { host_rate: 0, fallback: false } : {};
    const trial: ScannerTrial = {
      module: this.#module,
      listening,
      config: { ports: `2000-${1999 + ports}`, rate: 100_000, ...only },
      rate,
      ...(targets && { targets }),
    };
    const repeatedBefore = this.#repeated();
    const { counts, highest, open } = await this.#host.run<ScannerOutcome>(script, trial);
    const probes = this.#arrivals() - (this.#repeated() - repeatedBefore);
    const sum = (name: 'closed' | 'filtered') => counts.reduce((total, each) => total + each[name], 0);
    return { open, closed: sum('closed'), filtered: sum('filtered'), highest, probes };
  }

  /** Anew for each sweep: a rule with a limit remembers what it let through. */
  #limit(arriving: string[], leaving: string[]): void {
    const nft = (rule: string) => this.#host.exec('nft', rule);
    nft('add table ip trial');
    nft('delete table ip trial');
    nft('add table ip trial');
    for (const hook of ['input', 'output'])
      nft(`add chain ip trial ${hook} { type filter hook ${hook} priority 0 ; }`);
    nft(`add rule ip trial input ${isSyn} tcp dport 2000-60000 counter`);
    for (const rule of arriving) nft(`add rule ip trial input ${isSyn} ${rule}`);
    for (const rule of leaving) nft(`add rule ip trial output ${rule}`);
  }

  /**
   * SYNs that the kernel has sent again by itself: it does so 0.1 s after a sweep gives up, and on a busy machine the sweep comes
   * later than that.
   */
  #repeated(): number {
    const [names = '', values = ''] = this.#host.exec('grep', '^TcpExt', '/proc/net/netstat').split('\n');
    return Number(values.split(' ')[names.split(' ').indexOf('TCPSynRetrans')]);
  }

  /** What the host itself counts arrives in no other way than as a probe. */
  #arrivals(): number {
    return Number(/packets (\d+)/.exec(this.#host.exec('nft', 'list chain ip trial input'))?.[1]);
  }
}
