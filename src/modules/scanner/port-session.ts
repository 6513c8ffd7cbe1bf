import type { Banner, UnidentifiedReason } from '../../domain/banner.ts';
import type { Endpoint } from '../../domain/host.ts';
import type { Probe } from '../../knowledge/probes/probe.ts';
import {
  insideOrder,
  probeForGreeting,
  probeForPort,
  probeNamed,
  probes,
  probesAfter,
  secondProbesForPort,
  silentOrder,
  tlsPorts,
  wantsTls,
} from '../../knowledge/probes/probes.ts';
import { startsHttp2, wantsHttp2 } from '../../knowledge/protocols/http2-text.ts';
import { iconPath, iconProbe } from '../../knowledge/requests/favicon.ts';
import { maxHeaderBytes } from '../../knowledge/requests/http-reader.ts';
import { pageProbe, redirectNames, redirectPath } from '../../knowledge/requests/redirect.ts';
import type { NetworkGate, PortObservation } from '../../net/gate/gate.ts';
import { loopClock } from '../../net/loop-clock.ts';
import { ProbeSession } from './probe-session.ts';
import type { SlowHosts } from './slow-hosts.ts';

/** How long a service that usually waits for the client may speak first. */
const clientFirstPatienceMs = 300;

/** Longest wait for a service to speak first where one is usual that does, and where any may be. */
const longestPatienceMs = 1500;
const unknownPatienceMs = 800;

/** Time that a probe of a silent port gets at least. */
const shortestProbeMs = 200;

/** Questions to a service that ended the first connection without a word; who waits in silence gets all. */
const mostToHangUps = 10;

/** Longest wait for the rate that does not count as time of the port, in timeouts. */
const longestWait = 20;

/** The loop was late by so much, milliseconds and share of the time: responses may have been missed. */
const lateMs = 20;
const lateShare = 0.02;

/** Share of the time that speaks against the silence of a port of which nothing else is known. */
const veryLateShare = 0.2;

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
  /** Also ask what takes a login with a name for strangers. */
  intrusive: boolean;
  /** Also ask what only tells how strong the encryption is. */
  thorough: boolean;
  /** The name by which an address was asked for. */
  names: ReadonlyMap<string, string>;
  slowHosts: SlowHosts;
  /** Times that waits are longer than usual. */
  stretch: number;
}

/** What an interview came to. */
export interface PortSession {
  banners: Banner[];
  /** Why it may not have found out everything, or null. */
  shortage: UnidentifiedReason | null;
  /** Nothing was said at all. */
  silent: boolean;
  /** The service is known. */
  identified: boolean;
  /** A service that goes on and on would not come to an end with more time either. */
  endless: boolean;
  /** How much the port told, to choose between two interviews. */
  worth: number;
}

/**
 * Finds out what one open port says: listens, then asks the questions that fit, one connection each, until an answer
 * tells the service. A silent port costs one timeout in all: what is asked of it later shares the time that is left.
 */
export async function probePort(
  endpoint: Endpoint,
  settings: PortSessionSettings,
): Promise<PortSession | { failure: PortObservation }> {
  return new PortInterview(endpoint, settings).run();
}

type Candidate = Probe | 'tls';

class PortInterview {
  #endpoint: Endpoint;
  #settings: PortSessionSettings;
  #hint: Probe | null;
  #open = new Set<ProbeSession>();
  #finished: ProbeSession[] = [];
  /** Questions that the answers gave rise to. */
  #further: ProbeSession[] = [];
  /** The port let nobody in any more. */
  #lost = false;
  /** It did not accept a connection in time. */
  #unreached = false;
  /** A response that was to be expected did not come, or not to its end. */
  #overdue = false;
  /** The port did not speak first. */
  #ungreeted = false;
  /** Time that was waited for the rate, milliseconds, and until when. */
  #waitedMs = 0;
  #waitedUntil = 0;
  readonly #startedAt = performance.now();
  readonly #lostBefore: number;
  #tlsError: string | undefined;
  #tlsTried = false;
  /** #now() at which a port that stayed silent is given up. */
  #silentUntil = 0;
  #wake: () => void = () => undefined;
  #talking = new Set<ProbeSession>();

  constructor(endpoint: Endpoint, settings: PortSessionSettings) {
    this.#endpoint = endpoint;
    this.#settings = { ...settings, timeoutMs: settings.timeoutMs * settings.stretch };
    this.#lostBefore = loopClock.lostMs;
    this.#hint = probeForPort(endpoint.port, settings.intrusive);
  }

  async run(): Promise<PortSession | { failure: PortObservation }> {
    const releaseClock = loopClock.use();
    try {
      const failure = await this.#interview();
      return failure ? { failure } : this.#outcome();
    } finally {
      for (const dialogue of this.#open) dialogue.close();
      releaseClock();
    }
  }

  /** Milliseconds of a clock that stands still while the loop cannot run or the rate is waited for. */
  #now(): number {
    return loopClock.now() - Math.min(this.#waitedMs, this.#longestWaitMs);
  }

  get #longestWaitMs(): number {
    return longestWait * this.#settings.timeoutMs;
  }

  /** Adds a wait; those of several connections at the same time count once. */
  #noteWait(ms: number): void {
    const end = loopClock.now();
    this.#waitedMs += Math.max(0, end - Math.max(end - ms, this.#waitedUntil));
    this.#waitedUntil = end;
  }

  #outcome(): PortSession {
    const best = this.#best();
    const banners = this.#banners();
    return {
      banners,
      shortage: this.#shortage(best),
      silent: best === null || best.bytes.length === 0,
      identified: this.#identified,
      endless: best?.truncated ?? false,
      worth: 100 * (best ? value(best) : 0) + banners.length,
    };
  }

  #shortage(best: ProbeSession | null): UnidentifiedReason | null {
    const { ask, slowHosts } = this.#settings;
    if (!ask) return null;
    if (this.#unreached) return 'timeout';
    const greeter = probes.some(({ service, greeting }) => greeting !== null && service === best?.service);
    const overdue = this.#overdue || (best?.overdue ?? false) || (this.#ungreeted && greeter);
    const unknown = !this.#anyAnswer;
    const lostMs = loopClock.lostMs - this.#lostBefore;
    const share = lostMs / Math.max(1, performance.now() - this.#startedAt);
    const slow = slowHosts.has(this.#endpoint.host);
    if (overdue && (slow || (lostMs >= lateMs && share >= lateShare))) return 'timeout';
    if (unknown && (slow || share >= veryLateShare)) return 'timeout';
    return (overdue || unknown) && this.#waitedMs > this.#longestWaitMs ? 'rate' : null;
  }

  async #interview(): Promise<PortObservation | null> {
    const { ask, tls } = this.#settings;
    if (ask && tls && tlsPorts.has(this.#endpoint.port)) {
      const failure = await this.#secureDialogue(this.#settings.timeoutMs);
      if (!failure && this.#identified) await this.#askFurther();
      if (failure || this.#identified) return failure;
    }
    const first = await this.#dial();
    if (!(first instanceof ProbeSession)) return first;
    this.#silentUntil = this.#now() + this.#settings.timeoutMs;
    await first.listen(this.#patience());
    this.#ungreeted = first.bytes.length === 0 && !first.broken;
    if (first.bytes.length > 0) await this.#answerGreeting(first);
    else if (ask) await this.#questionSilent(first);
    await this.#followUp();
    await this.#askFurther();
    return null;
  }

  /** Services that wait for the client are not waited for as long. */
  #patience(): number {
    const { ask, timeoutMs } = this.#settings;
    if (!ask) return timeoutMs;
    if (this.#hint === null) return this.#atMostHalf(unknownPatienceMs);
    return this.#atMostHalf(this.#hint.greeting ? longestPatienceMs : clientFirstPatienceMs);
  }

  /** A usual wait, of the timeout half at most. */
  #atMostHalf(usualMs: number): number {
    const { timeoutMs, stretch } = this.#settings;
    return Math.min(timeoutMs / 2, stretch * usualMs);
  }

  get #greetingMs(): number {
    return Math.min(this.#settings.timeoutMs, this.#settings.stretch * longestPatienceMs);
  }

  get #shortestMs(): number {
    return this.#settings.stretch * shortestProbeMs;
  }

  async #answerGreeting(dialogue: ProbeSession): Promise<void> {
    const probe = this.#settings.ask ? probeForGreeting(dialogue.bytes, this.#endpoint.port) : null;
    if (probe && !dialogue.broken) await dialogue.ask(probe, this.#settings.timeoutMs, this.#settings.tls);
    else if (probe) dialogue.probe = probe.name;
    this.#overdue ||= dialogue.overdue;
    this.#end(dialogue);
  }

  /** Asks one question after the other, each a little later than the one before, until one is answered. */
  async #questionSilent(first: ProbeSession): Promise<void> {
    const candidates = this.#candidates().slice(0, first.broken ? mostToHangUps : undefined);
    const gap = Math.max(0, this.#silentUntil - this.#now()) / (candidates.length + 1);
    const running: Promise<void>[] = [];
    for (const [position, candidate] of candidates.entries()) {
      if (this.#settings.signal.aborted || this.#anyAnswer) break;
      const reuse = position === 0 && !first.broken ? first : null;
      const asked = this.#question(candidate, reuse, gap).finally(() => this.#wake());
      running.push(asked);
      await this.#settled(asked, gap);
    }
    if (first.broken) this.#end(first);
    await Promise.all(running);
  }

  /** The next question is due: the last one ended, or its time is over and nobody is speaking. */
  async #settled(asked: Promise<void>, gap: number): Promise<void> {
    let forget: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      forget = loopClock.after(gap, resolve);
    });
    await Promise.race([asked, over]);
    forget();
    while (this.#talking.size > 0 && !this.#anyAnswer) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  get #name(): string | null {
    return this.#settings.names.get(this.#endpoint.host) ?? null;
  }

  #candidates(): Candidate[] {
    const { tls } = this.#settings;
    const usual = silentOrder.filter((candidate) => candidate !== 'tls' || (tls && !this.#tlsTried));
    const hint = this.#hint;
    const seconds = secondProbesForPort(this.#endpoint.port, this.#settings.intrusive);
    if (!hint) return [...usual.slice(0, 2), ...seconds, ...usual.slice(2)];
    const others = usual.filter((candidate) => candidate !== hint);
    // A service that should have spoken and did not is perhaps another one, or waits for a word all the same.
    return hint.greeting === null
      ? [hint, ...seconds, ...others]
      : [...others.slice(0, 2), hint, ...seconds, ...others.slice(2)];
  }

  async #question(candidate: Candidate, reuse: ProbeSession | null, gap: number): Promise<void> {
    const left = Math.max(this.#shortestMs, this.#silentUntil - this.#now());
    if (candidate === 'tls') {
      await this.#secureDialogue(left);
      return;
    }
    const dialogue = reuse ?? (await this.#dial(left));
    if (!(dialogue instanceof ProbeSession)) return;
    const rest = Math.max(this.#shortestMs, this.#silentUntil - this.#now());
    // The first connection listens to the end; the others give their place to the next ones.
    const enough = reuse ? rest : Math.max(this.#shortestMs, 3 * gap, 8 * dialogue.latencyMs);
    await dialogue.ask(candidate, Math.min(rest, enough), this.#settings.tls);
    this.#end(dialogue);
  }

  /** One connection in TLS from its first byte. @returns why there was no connection at all */
  async #secureDialogue(handshakeMs: number): Promise<PortObservation | null> {
    this.#tlsTried = true;
    const dialogue = await this.#dial();
    if (!(dialogue instanceof ProbeSession)) return dialogue;
    const inner = this.#hint ?? probeNamed('http');
    const alpn = inner.name === 'http' ? ['http/1.1'] : [];
    if (await dialogue.secure(alpn, handshakeMs, this.#name)) await this.#talkInside(dialogue, inner);
    else this.#tlsError = dialogue.tlsError;
    const overdue = dialogue.overdue;
    if (
      /handshake failure/.test(dialogue.tlsError ?? '') &&
      (await this.#anonymousDialogue(inner, handshakeMs))
    ) {
      this.#open.delete(dialogue);
      this.#tlsError = undefined;
      return null;
    }
    if (await this.#othersInside(dialogue, inner, handshakeMs)) {
      dialogue.close();
      this.#open.delete(dialogue);
    } else {
      this.#overdue ||= overdue;
      this.#end(dialogue);
    }
    return null;
  }

  /** Where the first question in TLS was none for the server. @returns true when another one was */
  async #othersInside(first: ProbeSession, inner: Probe, handshakeMs: number): Promise<boolean> {
    const refused = wantsHttp2(first.tlsError ?? '');
    const unanswered = first.tls !== undefined && first.bytes.length === 0;
    const newer = refused || unanswered || startsHttp2(first.bytes);
    if (inner.name === 'http' && newer && (await this.#http2Dialogue(handshakeMs))) return true;
    if (!refused && !unanswered) return false;
    const until = this.#now() + this.#settings.timeoutMs;
    for (const probe of insideOrder) {
      if (this.#settings.signal.aborted || this.#now() >= until) break;
      if (probe === inner) continue;
      const dialogue = await this.#dial();
      if (!(dialogue instanceof ProbeSession)) break;
      const agreed = await dialogue.secure([], handshakeMs, this.#name);
      const enough = Math.max(this.#shortestMs, this.#settings.timeoutMs / insideOrder.length);
      if (agreed) await dialogue.ask(probe, enough, false);
      // A server that wants no name of a protocol shows its certificate to those that give none.
      if (dialogue.bytes.length > 0 || (refused && agreed)) {
        this.#tlsError = undefined;
        this.#end(dialogue);
        return true;
      }
      dialogue.close();
      this.#open.delete(dialogue);
    }
    return false;
  }

  /** For servers that have no certificate. @returns false when that was none either */
  async #anonymousDialogue(inner: Probe, handshakeMs: number): Promise<boolean> {
    const dialogue = await this.#dial();
    if (!(dialogue instanceof ProbeSession)) return false;
    const agreed = await dialogue.secure([], handshakeMs, this.#name, true);
    if (agreed) {
      await this.#talkInside(dialogue, inner);
      this.#end(dialogue);
    } else {
      dialogue.close();
      this.#open.delete(dialogue);
    }
    return agreed;
  }

  /** For servers that speak nothing but HTTP/2. @returns false when that was none either */
  async #http2Dialogue(handshakeMs: number): Promise<boolean> {
    const dialogue = await this.#dial();
    if (!(dialogue instanceof ProbeSession)) return false;
    const agreed = (await dialogue.secure(['h2'], handshakeMs, this.#name)) && dialogue.tls?.alpn === 'h2';
    if (agreed) await dialogue.askHttp2();
    if (dialogue.bytes.length === 0) {
      dialogue.close();
      this.#open.delete(dialogue);
      return false;
    }
    this.#end(dialogue);
    return true;
  }

  /** For servers that begin with HTTP/2 without TLS (RFC 9113 section 3.3). */
  async #clearHttp2Dialogue(): Promise<void> {
    const dialogue = await this.#dial();
    if (!(dialogue instanceof ProbeSession)) return;
    await dialogue.askHttp2();
    this.#end(dialogue);
  }

  async #talkInside(dialogue: ProbeSession, inner: Probe): Promise<void> {
    const { timeoutMs } = this.#settings;
    const patience = inner.greeting === null ? clientFirstPatienceMs : longestPatienceMs;
    await dialogue.listen(this.#atMostHalf(patience));
    const greeted = dialogue.bytes.length > 0;
    const probe = greeted ? probeForGreeting(dialogue.bytes, this.#endpoint.port) : inner;
    if (probe && !dialogue.broken) await dialogue.ask(probe, timeoutMs, false);
  }

  /** What an answer gave away may deserve a question of its own. */
  async #followUp(): Promise<void> {
    const { ask, tls, signal } = this.#settings;
    if (!ask || signal.aborted) return;
    const best = this.#best();
    if (!best || (best.tls && !best.unfinished)) return;
    if (startsHttp2(best.bytes)) {
      await this.#clearHttp2Dialogue();
      return;
    }
    if (tls && !this.#tlsTried && wantsTls(best.bytes)) {
      await this.#secureDialogue(this.#settings.timeoutMs);
      return;
    }
    for (let probe = this.#betterProbe(best); probe !== null; ) {
      const dialogue = await this.#dial();
      if (!(dialogue instanceof ProbeSession)) return;
      if (probe.greeting) await dialogue.listen(this.#greetingMs);
      if (!dialogue.broken) await dialogue.ask(probe, this.#settings.timeoutMs, tls);
      this.#overdue ||= dialogue.overdue;
      this.#end(dialogue);
      probe = dialogue.unfinished ? nextOf(probe.name) : null;
    }
  }

  /** Each on a connection of its own, one after the other; what they tell is no answer to who the service is. */
  async #askFurther(): Promise<void> {
    const { ask, intrusive, thorough, signal } = this.#settings;
    const best = this.#best();
    if (!ask || (best === null && this.#finished.length === 0)) return;
    // A server that did not come to an end would not come to one again.
    if (best?.truncated) return;
    const secure = best?.tls !== undefined && !best.upgraded;
    const answers = [best?.bytes ?? Buffer.alloc(0)];
    for (const name of redirectNames) {
      const path = redirectPath(answers.at(-1) as Buffer, { ...this.#endpoint, name: this.#name, secure });
      const page =
        path === null || signal.aborted ? null : await this.#askAside(pageProbe(name, path), secure);
      if (!page) break;
      answers.push(page.bytes);
    }
    const icon = iconPath(answers.at(-1) as Buffer, { ...this.#endpoint, name: this.#name, secure });
    if (icon !== null && !signal.aborted) await this.#askAside(iconProbe(icon), secure);
    const circumstances = { intrusive, thorough, secure };
    const due = answers.flatMap((bytes) => probesAfter(bytes, this.#endpoint.port, circumstances));
    for (const probe of new Set(due)) {
      if (signal.aborted) return;
      await this.#askAside(probe, secure);
    }
  }

  /** Asks on a new connection. @returns null when no answer came */
  async #askAside(probe: Probe, secure: boolean): Promise<ProbeSession | null> {
    const { timeoutMs } = this.#settings;
    const dialogue = this.#lost ? null : await this.#dial();
    if (!(dialogue instanceof ProbeSession)) {
      this.#lost = true;
      return null;
    }
    const ready = !secure || (await dialogue.secure([], timeoutMs, this.#name));
    if (ready && probe.greeting) await dialogue.listen(this.#greetingMs);
    const inside = this.#settings.tls && probe.inside !== undefined;
    if (ready && !dialogue.broken) await dialogue.ask(probe, timeoutMs, inside);
    this.#overdue ||= dialogue.overdue;
    this.#noteSlowness(dialogue);
    dialogue.ended = true;
    dialogue.close();
    this.#open.delete(dialogue);
    if (dialogue.bytes.length === 0) return null;
    this.#further.push(dialogue);
    return dialogue;
  }

  #betterProbe(best: ProbeSession): Probe | null {
    if (best.unfinished) return nextOf(best.probe);
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

  async #dial(connectMs = this.#settings.timeoutMs): Promise<ProbeSession | PortObservation> {
    const { net, signal, timeoutMs, maxBytes, stretch } = this.#settings;
    const { host, port } = this.#endpoint;
    const body = Math.min(maxBytes, maxBodyBytes);
    const result = await net.connect(host, port, {
      deadlineMs: 2 * timeoutMs,
      connectMs: Math.min(connectMs, timeoutMs),
      maxBytes: maxHeaderBytes + body,
      signal,
      onWait: (ms) => this.#noteWait(ms),
    });
    if ('failure' in result) {
      this.#unreached ||= !signal.aborted && isUnreached(result.failure);
      return result.failure;
    }
    const dialogue = new ProbeSession(result.connection, this.#name ?? host, {
      port,
      idleMs: timeoutMs,
      maxBytes: body,
      stretch,
    });
    dialogue.onHeard = () => {
      if (dialogue.ended) return;
      this.#talking.add(dialogue);
    };
    this.#open.add(dialogue);
    return dialogue;
  }

  /** An answer that tells the service ends all other dialogues. */
  #end(dialogue: ProbeSession): void {
    if (dialogue.ended) return;
    dialogue.ended = true;
    this.#noteSlowness(dialogue);
    dialogue.close();
    this.#open.delete(dialogue);
    this.#talking.delete(dialogue);
    this.#finished.push(dialogue);
    if (dialogue.identified) for (const other of this.#open) other.close();
    this.#wake();
  }

  #noteSlowness({ slowestMs, latencyMs }: ProbeSession): void {
    this.#settings.slowHosts.note(
      this.#endpoint.host,
      Math.max(slowestMs, latencyMs),
      this.#settings.timeoutMs,
    );
  }

  get #identified(): boolean {
    return this.#finished.some((dialogue) => dialogue.identified);
  }

  get #anyAnswer(): boolean {
    return this.#finished.some((dialogue) => dialogue.identified || dialogue.bytes.length > 0);
  }

  /** The dialogue that told most: TLS, then a known service, then any answer; the later one of equals. */
  #best(): ProbeSession | null {
    let best: ProbeSession | null = null;
    for (const dialogue of this.#finished) if (!best || value(dialogue) >= value(best)) best = dialogue;
    return best;
  }

  #banners(): Banner[] {
    const best = this.#best();
    const telling = this.#finished.filter((dialogue) => value(dialogue) > 0);
    const chosen = telling.filter(
      (each) =>
        each === best ||
        (each.unfinished && best?.probe === nextOf(each.probe)?.name) ||
        (best?.unfinished && each.probe === nextOf(best.probe)?.name),
    );
    const all = [...chosen, ...this.#further];
    if (all.length > 0) return all.map((dialogue) => dialogue.toBanner(this.#endpoint, this.#tlsError));
    return [emptyBanner(this.#endpoint, this.#tlsError)];
  }
}

function nextOf(name: string): Probe | null {
  const next = probes.find((probe) => probe.name === name)?.next;
  return next ? probeNamed(next) : null;
}

function value(dialogue: ProbeSession): number {
  if (dialogue.tls && dialogue.bytes.length > 0) return 4;
  if (dialogue.tls) return 3;
  if (dialogue.bytes.length === 0) return 0;
  return dialogue.service === null ? 1 : 2;
}

/** Silence, or a packet that could not leave this machine; what is not permitted is none. */
function isUnreached({ state, reason }: PortObservation): boolean {
  return reason === 'no-response' || (state === 'not_tried' && reason.startsWith('local'));
}

/** For a port that said nothing. */
export function emptyBanner(endpoint: Endpoint, tlsError?: string): Banner {
  const silent = { banner: '', probe: 'null', truncated: false, partial: false };
  return { ...endpoint, ...silent, ...(tlsError ? { tls_error: tlsError } : {}) };
}
