import type { Endpoint } from '../../domain/host.ts';
import type { Banner, UnidentifiedReason } from '../../domain/text/banner.ts';
import {
  controlProbeForPort,
  isControlPort,
  isControlService,
} from '../../knowledge/probes/control-system.ts';
import { wantsTls } from '../../knowledge/probes/first-bytes.ts';
import type { Probe } from '../../knowledge/probes/probe.ts';
import {
  nextProbe,
  probeForGreeting,
  probeForPort,
  probeNamed,
  probes,
  secondProbesForPort,
  silentOrder,
  tlsPorts,
} from '../../knowledge/probes/probes.ts';
import { startsHttp2 } from '../../knowledge/protocols/http2-text.ts';
import type { PortObservation } from '../../net/gate/gate.ts';
import { loopClock } from '../../net/loop-clock.ts';
import { probeFurther } from './further-probes.ts';
import {
  clientFirstMs,
  evidenceRank,
  lateGreetingTimeouts,
  longestGreetingMs,
  PortConnections,
  type PortSessionSettings,
} from './port-connections.ts';
import { ProbeSession } from './probe-session.ts';
import { TlsProbing } from './tls-probing.ts';

/** Longest wait for a service to speak first on a port without a usual service, milliseconds. */
const unknownGreetingMs = 800;

/** Time that a probe of a silent port gets at least, milliseconds. */
const shortestProbeMs = 200;

/** Most probes of a service that closed the first connection without a word; a silent one gets all. */
const maxProbesAfterClose = 10;

/** What the probes of a port found. */
export interface PortSession {
  banners: Banner[];
  /** Why the port may hold more than was found, or null. */
  shortage: UnidentifiedReason | null;
  /** The port sent nothing. */
  silent: boolean;
  /** The service was identified. */
  identified: boolean;
  /** The response has no end, with more time neither. */
  endless: boolean;
  /** How much the port showed, to choose between two sessions. */
  worth: number;
}

/**
 * Finds out what service listens on an open port: listens, then sends the probes that fit, one connection each, until
 * a response identifies the service. A silent port costs one timeout in all: later probes share the time that is left.
 */
export async function probePort(
  endpoint: Endpoint,
  settings: PortSessionSettings,
): Promise<PortSession | { failure: PortObservation }> {
  return new PortProbing(endpoint, settings).run();
}

type Candidate = Probe | 'tls';

class PortProbing {
  readonly #connections: PortConnections;
  readonly #settings: PortSessionSettings;
  /** The usual probe of the port. */
  readonly #hint: Probe | null;
  readonly #tls: TlsProbing;
  /** The port did not speak first. */
  #ungreeted = false;
  /** Nothing beyond one exchange of the port's own protocol was sent: its devices are fragile. */
  #isSpared = false;
  /** Time of the port at which a silent one is given up. */
  #silentUntil = 0;

  constructor(endpoint: Endpoint, settings: PortSessionSettings) {
    this.#connections = new PortConnections(endpoint, settings);
    this.#settings = this.#connections.settings;
    this.#hint = probeForPort(endpoint.port, settings.intrusive);
    this.#tls = new TlsProbing(this.#connections, this.#hint, this.#shortestMs);
  }

  async run(): Promise<PortSession | { failure: PortObservation }> {
    const releaseClock = loopClock.use();
    try {
      const failure = await this.#probe();
      return failure ? { failure } : this.#outcome();
    } finally {
      this.#connections.closeAll();
      releaseClock();
    }
  }

  get #port(): number {
    return this.#connections.endpoint.port;
  }

  get #shortestMs(): number {
    return this.#settings.stretch * shortestProbeMs;
  }

  #outcome(): PortSession {
    const best = this.#connections.best();
    const banners = this.#connections.banners();
    return {
      banners,
      shortage: this.#shortage(),
      silent: best === null || best.bytes.length === 0,
      identified: this.#connections.identified,
      endless: best?.truncated ?? false,
      worth: 100 * (best ? evidenceRank(best) : 0) + banners.length,
    };
  }

  #shortage(): UnidentifiedReason | null {
    if (!this.#isSpared) return this.#connections.shortage(this.#ungreeted);
    return this.#connections.identified || !this.#settings.ask ? null : 'fragile';
  }

  async #probe(): Promise<PortObservation | null> {
    const { ask, tls, timeoutMs, intrusive } = this.#settings;
    const connections = this.#connections;
    if (!intrusive && isControlPort(this.#port)) return await this.#probeControlPort();
    if (ask && tls && tlsPorts.has(this.#port)) {
      const failure = await this.#tls.probe(timeoutMs);
      if (!failure && connections.identified) await probeFurther(connections);
      if (failure || connections.identified) return failure;
    }
    const first = await connections.dial();
    if (!(first instanceof ProbeSession)) return first;
    this.#silentUntil = connections.clock.now() + timeoutMs;
    await first.listen(this.#greetingMs());
    this.#ungreeted = first.bytes.length === 0 && !first.broken;
    if (first.bytes.length > 0) await this.#probeGreeter(first);
    else if (ask && this.#mayGreetLate(first)) await this.#awaitGreeting(first);
    else if (ask) await this.#probeSilent(first);
    await this.#probeOnwards(first);
    return null;
  }

  /** @param first a server that has not ended its greeting gets no further connection */
  async #probeOnwards(first: ProbeSession): Promise<void> {
    if (first.unfinishedGreeting) return;
    await this.#followUp();
    await probeFurther(this.#connections);
  }

  #mayGreetLate(first: ProbeSession): boolean {
    const { slowHosts } = this.#settings;
    const isGreeter = this.#hint !== null && this.#hint.greeting !== null;
    return isGreeter && !first.broken && slowHosts.awaitGreeting(this.#connections.endpoint.host);
  }

  /**
   * Listens on the first connection for longer, while a few others try whether another service is behind the port. A
   * mail server may be late on purpose, and gets no byte on any connection before it has greeted.
   */
  async #awaitGreeting(first: ProbeSession): Promise<void> {
    const { timeoutMs, slowHosts, tls } = this.#settings;
    const connections = this.#connections;
    const hint = this.#hint as Probe;
    const isMail = hint.service === 'smtp';
    const lateAt = this.#silentUntil + (lateGreetingTimeouts - 1) * timeoutMs;
    // Whatever ends the wait, such as a pause of the scan, others may be waited for.
    const late = this.#listenOn(first, lateAt - connections.clock.now()).finally(() =>
      slowHosts.greetingEnded(),
    );
    const secure: Candidate[] = tls && !this.#tls.tried ? ['tls'] : [];
    if (!isMail) await this.#probeInTurn([probeNamed('http'), ...secure, hint, probeNamed('generic')], null);
    await late;
    if (isMail && first.bytes.length === 0 && !first.broken)
      await first.ask(hint, connections.greetingMs, tls);
    connections.end(first);
    if (isMail && tls && !this.#tls.tried && !connections.anyResponse) await this.#tls.probe(timeoutMs);
  }

  /** Waits for a late greeting: a pause of the service, not of the link. */
  async #listenOn(first: ProbeSession, ms: number): Promise<void> {
    const { slowestMs } = first;
    await first.listen(ms);
    first.slowestMs = slowestMs;
    if (first.bytes.length === 0) return;
    this.#ungreeted = false;
    this.#connections.greetsLate = true;
    await this.#probeGreeter(first);
  }

  /**
   * One connection: listens, and sends the request of the control system to a silent port. Only a greeting that shows
   * another service, such as SSH, leads to its probes.
   */
  async #probeControlPort(): Promise<PortObservation | null> {
    const { ask, timeoutMs } = this.#settings;
    const connections = this.#connections;
    const session = await connections.dial();
    if (!(session instanceof ProbeSession)) return session;
    const own = ask ? controlProbeForPort(this.#port) : null;
    await session.listen(own ? connections.atMostHalf(clientFirstMs) : timeoutMs);
    if (session.service !== null && !isControlService(session.service)) {
      await this.#probeGreeter(session);
      await this.#probeOnwards(session);
      return null;
    }
    this.#isSpared = true;
    if (own && session.bytes.length === 0 && !session.broken) await session.ask(own, timeoutMs, false);
    connections.end(session);
    return null;
  }

  /** How long the port may speak first: services that wait for the client get less. */
  #greetingMs(): number {
    const { ask, timeoutMs } = this.#settings;
    if (!ask) return timeoutMs;
    if (this.#hint === null) return this.#connections.atMostHalf(unknownGreetingMs);
    return this.#connections.atMostHalf(this.#hint.greeting ? longestGreetingMs : clientFirstMs);
  }

  async #probeGreeter(session: ProbeSession): Promise<void> {
    const { ask, timeoutMs, tls } = this.#settings;
    const probe = ask ? probeForGreeting(session.bytes, this.#port) : null;
    if (probe && !session.broken) await session.ask(probe, timeoutMs, tls);
    else if (probe) session.probe = probe.name;
    this.#connections.overdue ||= session.overdue;
    this.#connections.end(session);
  }

  async #probeSilent(first: ProbeSession): Promise<void> {
    const candidates = this.#candidates().slice(0, first.broken ? maxProbesAfterClose : undefined);
    await this.#probeInTurn(candidates, first.broken ? null : first);
    if (first.broken) this.#connections.end(first);
  }

  /**
   * Sends one probe after the other, each a little later than the one before, until one gets a response.
   * @param first connection of the first of them; null = a new one
   */
  async #probeInTurn(candidates: readonly Candidate[], first: ProbeSession | null): Promise<void> {
    const connections = this.#connections;
    const gap = Math.max(0, this.#silentUntil - connections.clock.now()) / (candidates.length + 1);
    const running: Promise<void>[] = [];
    for (const [position, candidate] of candidates.entries()) {
      if (this.#settings.signal.aborted || connections.anyResponse) break;
      const reuse = position === 0 ? first : null;
      const probed = this.#probeCandidate(candidate, reuse, gap).finally(() => connections.wake());
      running.push(probed);
      await this.#untilNext(probed, gap);
    }
    await Promise.all(running);
  }

  /** The next probe is due: the last one ended, or its time is over and no session is receiving. */
  async #untilNext(probed: Promise<void>, gap: number): Promise<void> {
    let cancel: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      cancel = loopClock.after(gap, resolve);
    });
    await Promise.race([probed, over]);
    cancel();
    await this.#connections.untilQuiet();
  }

  #candidates(): Candidate[] {
    const { tls, intrusive } = this.#settings;
    const usual = silentOrder.filter((candidate) => candidate !== 'tls' || (tls && !this.#tls.tried));
    const hint = this.#hint;
    const seconds = secondProbesForPort(this.#port, intrusive);
    if (!hint) return [...usual.slice(0, 2), ...seconds, ...usual.slice(2)];
    const others = usual.filter((candidate) => candidate !== hint);
    // A service that should have spoken and did not is perhaps another one, or waits for the client all the same.
    return hint.greeting === null
      ? [hint, ...seconds, ...others]
      : [...others.slice(0, 2), hint, ...seconds, ...others.slice(2)];
  }

  async #probeCandidate(candidate: Candidate, reuse: ProbeSession | null, gap: number): Promise<void> {
    const connections = this.#connections;
    const left = Math.max(this.#shortestMs, this.#silentUntil - connections.clock.now());
    if (candidate === 'tls') {
      await this.#tls.probe(left);
      return;
    }
    const session = reuse ?? (await connections.dial(left));
    if (!(session instanceof ProbeSession)) return;
    const rest = Math.max(this.#shortestMs, this.#silentUntil - connections.clock.now());
    // The first connection listens to the end; the others make way for the next ones.
    const enough = reuse ? rest : Math.max(this.#shortestMs, 3 * gap, 8 * session.latencyMs);
    await session.ask(candidate, Math.min(rest, enough), this.#settings.tls);
    connections.end(session);
  }

  /** For servers that begin with HTTP/2 without TLS (RFC 9113 section 3.3). */
  async #probeClearHttp2(): Promise<void> {
    const session = await this.#connections.dial();
    if (!(session instanceof ProbeSession)) return;
    await session.askHttp2();
    this.#connections.end(session);
  }

  /** Sends the probe that the best response so far calls for. */
  async #followUp(): Promise<void> {
    const { ask, tls, signal, timeoutMs } = this.#settings;
    const connections = this.#connections;
    if (!ask || signal.aborted) return;
    const best = connections.best();
    if (!best || (best.tls && !best.unfinished)) return;
    if (startsHttp2(best.bytes)) {
      await this.#probeClearHttp2();
      return;
    }
    if (tls && !this.#tls.tried && wantsTls(best.bytes)) {
      await this.#tls.probe(timeoutMs);
      return;
    }
    for (let probe = betterProbe(best); probe !== null; ) {
      const session = await connections.dial();
      if (!(session instanceof ProbeSession)) return;
      if (probe.greeting) await session.listen(connections.greetingMs);
      if (!session.broken) await session.ask(probe, timeoutMs, tls);
      connections.overdue ||= session.overdue;
      connections.end(session);
      probe = session.unfinished ? nextProbe(probe.name) : null;
    }
  }
}

/** The probe that shows more than the one that got this response. */
function betterProbe(best: ProbeSession): Probe | null {
  if (best.unfinished) return nextProbe(best.probe);
  const text = best.bytes.toString('latin1');
  // A file server greets like a mail server, but knows neither EHLO nor LHLO.
  if (best.probe === 'smtp' && text.startsWith('220') && /\n5\d\d /.test(text) && !/\n250[ -]/.test(text))
    return probeNamed('ftp');
  const service = best.service;
  if (service === null) return null;
  const fitting = probes.find((probe) => probe.service === service);
  if (!fitting) return null;
  const asked = probes.find((probe) => probe.name === best.probe);
  return asked?.service === service ? null : fitting;
}
