import type { Endpoint } from '../../domain/host.ts';
import type { Banner, UnidentifiedReason } from '../../domain/text/banner.ts';
import { nextProbe, probes } from '../../knowledge/probes/probes.ts';
import { maxHeaderBytes } from '../../knowledge/requests/http-reader.ts';
import type { NetworkGate, PortObservation } from '../../net/gate/gate.ts';
import { PortClock } from './port-clock.ts';
import { ProbeSession } from './probe-session.ts';
import type { SlowHosts } from './slow-hosts.ts';

/** Usual wait for the first bytes of a service that usually waits for the client, milliseconds. */
export const clientFirstMs = 300;

/** Longest wait for a service that usually speaks first, milliseconds. */
export const longestGreetingMs = 1500;

/** Timeouts from the connection to the greeting of a service that usually speaks first, where it is late. */
export const lateGreetingTimeouts = 2.5;

/** Event loop late by so much, milliseconds and share of the time: responses may have been missed. */
const lateMs = 20;
const lateShare = 0.02;

/** Share of the time that makes the silence of a port uncertain of which nothing else is known: its clock stands still then. */
const veryLateShare = 0.5;

/** Raw bytes of an HTTP body that are read at most, whatever the option says. */
const maxBodyBytes = 1024 * 1024;

export interface PortSessionSettings {
  net: NetworkGate;
  signal: AbortSignal;
  /** Longest silence of a service; a connection lasts twice as long at most. */
  timeoutMs: number;
  maxBytes: number;
  /** False = only listen. */
  ask: boolean;
  tls: boolean;
  /** Also send probes that log in with a name for guests. */
  intrusive: boolean;
  /** Also send probes that only show how strong the encryption is. */
  thorough: boolean;
  /** Host names of addresses. */
  names: ReadonlyMap<string, string>;
  slowHosts: SlowHosts;
  /** Factor on the usual waits. */
  stretch: number;
  /** Called for each connection. */
  onConnected: () => void;
  /** Called when bytes of the port arrive. */
  onHeard?: (received: Buffer) => void;
}

/** The connections to one port, and what came of them. */
export class PortConnections {
  readonly endpoint: Endpoint;
  /** With the timeout stretched. */
  readonly settings: PortSessionSettings;
  readonly clock: PortClock;
  /** Why TLS failed, when nothing else came of the port. */
  tlsError: string | undefined;
  /** A response that was to be expected did not come, or not to its end. */
  overdue = false;
  /** The service pauses before its greeting. */
  greetsLate = false;
  readonly #open = new Set<ProbeSession>();
  readonly #finished: ProbeSession[] = [];
  /** Sessions of probes that followed from responses. */
  readonly #further: ProbeSession[] = [];
  /** Sessions that are receiving. */
  readonly #receiving = new Set<ProbeSession>();
  /** A connection attempt got no response in time. */
  #unreached = false;
  #wake: () => void = () => undefined;

  constructor(endpoint: Endpoint, settings: PortSessionSettings) {
    this.endpoint = endpoint;
    this.settings = { ...settings, timeoutMs: settings.timeoutMs * settings.stretch };
    this.clock = new PortClock(this.settings.timeoutMs);
  }

  /** Name of the host, if it has one. */
  get name(): string | null {
    return this.settings.names.get(this.endpoint.host) ?? null;
  }

  /** Longest wait for a greeting. */
  get greetingMs(): number {
    if (this.greetsLate) return lateGreetingTimeouts * this.settings.timeoutMs;
    return Math.min(this.settings.timeoutMs, this.settings.stretch * longestGreetingMs);
  }

  /** A usual wait stretched, half of the timeout at most. */
  atMostHalf(usualMs: number): number {
    const { timeoutMs, stretch } = this.settings;
    return Math.min(timeoutMs / 2, stretch * usualMs);
  }

  async dial(connectMs = this.settings.timeoutMs): Promise<ProbeSession | PortObservation> {
    const { net, signal, timeoutMs, maxBytes, stretch } = this.settings;
    const { host, port } = this.endpoint;
    const body = Math.min(maxBytes, maxBodyBytes);
    const result = await net.connect(host, port, {
      deadlineMs: 2 * timeoutMs,
      connectMs: Math.min(connectMs, timeoutMs),
      maxBytes: maxHeaderBytes + body,
      signal,
      onWait: (ms) => this.clock.noteRateWait(ms),
    });
    if ('failure' in result) {
      this.#unreached ||= !signal.aborted && isUnreached(result.failure);
      return result.failure;
    }
    this.settings.onConnected();
    const session = new ProbeSession(result.connection, this.name ?? host, {
      port,
      idleMs: timeoutMs,
      maxBytes: body,
      stretch,
    });
    session.onHeard = (received) => {
      if (session.ended) return;
      this.#receiving.add(session);
      this.settings.onHeard?.(received);
    };
    this.#open.add(session);
    return session;
  }

  /** Keeps a session as finished; one that identifies the service closes all others. */
  end(session: ProbeSession): void {
    if (session.ended) return;
    this.#release(session);
    this.#receiving.delete(session);
    this.#finished.push(session);
    if (session.identified) for (const other of this.#open) other.close();
    this.wake();
  }

  /** Keeps a session beside those that identify the service. */
  endFurther(session: ProbeSession): void {
    this.#release(session);
    if (session.bytes.length > 0) this.#further.push(session);
  }

  /** Drops a session. */
  discard(session: ProbeSession): void {
    session.close();
    this.#open.delete(session);
  }

  closeAll(): void {
    for (const session of this.#open) session.close();
  }

  /** Waits until no session is receiving, or one has got a response. */
  async untilQuiet(): Promise<void> {
    while (this.#receiving.size > 0 && !this.anyResponse) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Makes `untilQuiet` check again. */
  wake(): void {
    this.#wake();
  }

  get anyFinished(): boolean {
    return this.#finished.length > 0;
  }

  get identified(): boolean {
    return this.#finished.some((session) => session.identified);
  }

  get anyResponse(): boolean {
    return this.#finished.some((session) => session.identified || session.bytes.length > 0);
  }

  /** The session that shows most: TLS, then a known service, then any response; the later one of equals. */
  best(): ProbeSession | null {
    let best: ProbeSession | null = null;
    for (const session of this.#finished)
      if (!best || evidenceRank(session) >= evidenceRank(best)) best = session;
    return best;
  }

  banners(): Banner[] {
    const best = this.best();
    const informative = this.#finished.filter((session) => evidenceRank(session) > 0);
    const chosen = informative.filter(
      (each) =>
        each === best ||
        (each.unfinished && best?.probe === nextProbe(each.probe)?.name) ||
        (best?.unfinished && each.probe === nextProbe(best.probe)?.name),
    );
    const all = [...chosen, ...this.#further];
    if (all.length > 0) return all.map((session) => session.toBanner(this.endpoint, this.tlsError));
    return [emptyBanner(this.endpoint, this.tlsError)];
  }

  /** @param ungreeted the port did not speak first @returns why the port may hold more than was found, or null */
  shortage(ungreeted: boolean): UnidentifiedReason | null {
    const { ask, slowHosts } = this.settings;
    if (!ask) return null;
    if (this.#unreached) return 'timeout';
    const best = this.best();
    const greeter = probes.some(({ service, greeting }) => greeting !== null && service === best?.service);
    const overdue = this.overdue || (best?.overdue ?? false) || (ungreeted && greeter);
    const unknown = !this.anyResponse;
    const { lostMs, lostShare, rateTooLow } = this.clock;
    const slow = slowHosts.has(this.endpoint.host);
    if (overdue && !unknown && (slow || (lostMs >= lateMs && lostShare >= lateShare))) return 'timeout';
    if (unknown && (slow || lostShare >= veryLateShare)) return 'timeout';
    return (overdue || unknown) && rateTooLow ? 'rate' : null;
  }

  #release(session: ProbeSession): void {
    session.ended = true;
    this.#noteSlowness(session);
    this.discard(session);
  }

  #noteSlowness({ slowestMs, latencyMs }: ProbeSession): void {
    const { slowHosts, timeoutMs } = this.settings;
    slowHosts.note(this.endpoint.host, Math.max(slowestMs, latencyMs), timeoutMs);
  }
}

/** How much a session shows, 0..4. */
export function evidenceRank(session: ProbeSession): number {
  if (session.tls && session.bytes.length > 0) return 4;
  if (session.tls) return 3;
  if (session.bytes.length === 0) return 0;
  return session.service === null ? 1 : 2;
}

/** Silence, or a packet that could not leave this machine; a target that is not permitted is neither. */
function isUnreached({ state, reason }: PortObservation): boolean {
  return reason === 'no-response' || (state === 'not_tried' && reason.startsWith('local'));
}

/** For a port without a response. */
export function emptyBanner(endpoint: Endpoint, tlsError?: string): Banner {
  const silent = { banner: '', probe: 'null', truncated: false, partial: false };
  return { ...endpoint, ...silent, ...(tlsError ? { tls_error: tlsError } : {}) };
}
