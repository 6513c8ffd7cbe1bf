import type { Endpoint } from '../../domain/host.ts';
import {
  type Banner,
  describeBytes,
  type Exchange,
  type TlsObservation,
  tlsRejection,
} from '../../domain/text/banner.ts';
import { openingBytes, serviceOf } from '../../knowledge/probes/first-bytes.ts';
import type { Probe, ProbeStep } from '../../knowledge/probes/probe.ts';
import { http2Text } from '../../knowledge/protocols/http2-text.ts';
import { isBlank, withoutRepeats } from '../../knowledge/protocols/repeated-request.ts';
import { hostHeader, httpRequestFor, userAgent } from '../../knowledge/requests/http-request.ts';
import type { ResponseForm } from '../../knowledge/requests/response-form.ts';
import { readGreeting, readGuess } from '../../knowledge/requests/response-reader.ts';
import type { Connection, ReadEnd } from '../../net/gate/gate.ts';
import { requestHttp2 } from '../../net/http2.ts';
import { loopClock } from '../../net/loop-clock.ts';
import { handshakeTimeout } from '../../net/tls/tls.ts';

/**
 * Longest wait for the rest of a greeting of several lines, milliseconds. Mail servers such as postscreen send its first
 * line, wait 6 s or more, and put on block lists who speaks before the last one.
 */
const longestGreetingLinesMs = 15_000;

/** Silence that ends an unknown greeting after its first line, milliseconds. */
const greetingTailMs = 300;

/** Wait for an alert after a handshake, beside two round trips, milliseconds. */
const alertMs = 50;
/** Longest wait for an alert after a handshake, milliseconds. */
const longestAlertMs = 500;

export interface SessionTimeouts {
  /** The probed port. */
  port: number;
  /** Idle timeout within a response, milliseconds. */
  idleMs: number;
  /** Maximum bytes kept of one response. */
  maxBytes: number;
  /** Factor on default timeouts. */
  stretch?: number;
}

interface ReadLimits {
  idleMs?: number | (() => number);
  /** Maximum length of the current response; by default the rest of the session's limit. */
  most?: () => number | null;
}

/**
 * Alerts about the certificate of a client, which has none here: no_certificate, bad_certificate, unsupported, revoked,
 * expired and unknown ones, unknown_ca, certificate_required (RFC 8446, 6.2). TLS 1.3 sends them after the handshake.
 */
const certificateAlerts: ReadonlySet<number> = new Set([41, 42, 43, 44, 45, 46, 48, 116]);

/** Formats whose response may end with the connection. */
const endsWithConnection: ReadonlySet<ResponseForm> = new Set(['http', 'all', 'line']);

/** One session with a service over one connection, and everything it revealed. */
export class ProbeSession {
  /** Name of the host, or else its address. */
  readonly host: string;
  probe = 'null';
  truncated = false;
  partial = false;
  tls: TlsObservation | undefined;
  tlsError: string | undefined;
  /** The connection started without TLS. */
  upgraded = false;
  /** The last probe wants another one to follow. */
  unfinished = false;
  /** No more probes on this connection. */
  ended = false;
  /** The peer fell silent before its response was complete. */
  overdue = false;
  /** The greeting has begun and not ended: nothing may be sent. */
  unfinishedGreeting = false;
  /** Longest time to the first byte of a response, milliseconds. */
  slowestMs = 0;
  /** Called when bytes of the peer arrive. */
  onHeard: (received: Buffer) => void = () => undefined;
  #connection: Connection;
  #pace: SessionTimeouts;
  #parts: Buffer[] = [];
  /** Parts that came in clear text. */
  #clearParts = 0;
  #requests: Buffer[] = [];
  #broken = false;
  /** The kept bytes differ from those received, but are equivalent. */
  #rewritten = false;

  constructor(connection: Connection, host: string, pace: SessionTimeouts) {
    this.#connection = connection;
    this.host = host;
    this.#pace = pace;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  /** The service identified by the responses; null if none. */
  get service(): string | null {
    const start = this.bytes.subarray(0, openingBytes);
    const own = withoutRepeats(start, this.#requests);
    return own !== start && isBlank(own) ? 'echo' : serviceOf(own);
  }

  get identified(): boolean {
    return this.tls !== undefined || this.service !== null;
  }

  /** Duration of the connection attempt, about one round trip, milliseconds. */
  get latencyMs(): number {
    return this.#connection.latencyMs;
  }

  /** The connection is gone. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Waits for the service to speak first. */
  async listen(giveUpMs: number): Promise<void> {
    const limitMs = this.#pace.idleMs;
    if (giveUpMs > limitMs) this.#connection.endAfter(giveUpMs + 2 * limitMs);
    const reader = readGreeting();
    const idleMs = () => (reader.unfinished ? 2 * longestGreetingLinesMs : this.#pace.idleMs);
    const done = (bytes: Buffer) => {
      const length = reader.end(bytes);
      this.#noteGreeting(reader.unfinished);
      return length;
    };
    const end = await this.#read(giveUpMs, done, { idleMs });
    this.truncated ||= reader.capped;
    // An incomplete greeting.
    if (end === 'idle' && this.#parts.length > 0) this.overdue = true;
    const tailMs = greetingTailMs * (this.#pace.stretch ?? 1);
    const mayGoOn = end === 'match' && !reader.known && !reader.capped && !this.#broken;
    if (mayGoOn) await this.#read(tailMs, () => 0, { idleMs: tailMs });
  }

  #noteGreeting(unfinished: boolean): void {
    if (unfinished === this.unfinishedGreeting) return;
    this.unfinishedGreeting = unfinished;
    this.#connection.endAfter(unfinished ? longestGreetingLinesMs : 2 * this.#pace.idleMs);
  }

  /** Sends the requests of a probe, and upgrades to TLS if the service offers it. */
  async ask(probe: Probe, firstMs: number, upgrade: boolean): Promise<void> {
    this.probe = probe.name;
    if (this.unfinishedGreeting) return;
    for (const step of probe.steps) {
      const response = await this.#step(step, firstMs);
      if (response.length === 0 || this.#broken) return;
      if (step.proceed && !step.proceed.test(response.toString('latin1'))) {
        this.unfinished = probe.next !== undefined;
        break;
      }
    }
    if (upgrade) await this.#upgrade(probe, firstMs);
    if (probe.farewell && !this.#broken) await this.#connection.write(Buffer.from(probe.farewell, 'latin1'));
  }

  /**
   * Requests the root page over HTTP/2, which TLS has negotiated or the server has started with; stored in the form
   * of HTTP/1.
   */
  async askHttp2(): Promise<void> {
    this.probe = 'http2';
    const response = await requestHttp2(this.#connection, {
      secure: this.tls !== undefined,
      authority: hostHeader(this.host, this.#pace.port),
      path: '/',
      userAgent,
      idleMs: this.#pace.idleMs,
      maxBody: this.#pace.maxBytes,
    });
    this.#broken = true;
    if (response === null) return;
    const text = http2Text(response);
    this.onHeard(text);
    this.#rewritten = true;
    this.#requests.push(Buffer.from(httpRequestFor('/')(this.host, undefined, this.#pace.port), 'latin1'));
    this.#parts.push(text);
    this.truncated ||= response.truncated;
  }

  /** Brings a plain service to the point where it waits for a handshake. @returns the connection for it, or null */
  async untilTls(probe: Probe, firstMs: number): Promise<Connection | null> {
    const { upgrade, steps } = probe;
    if (!upgrade) return null;
    if (probe.greeting) await this.listen(firstMs);
    if (this.unfinishedGreeting || (probe.greeting && this.bytes.length === 0)) return null;
    for (const step of steps) {
      if (this.#broken || upgrade.offered.test(this.bytes.toString('latin1'))) break;
      await this.#step(step, firstMs);
    }
    if (this.#broken) return null;
    return (await this.#agreeOnTls(upgrade, firstMs)) ? this.#connection : null;
  }

  /** @returns false if the handshake failed; `tlsError` says why */
  async secure(
    alpn: string[],
    handshakeMs: number,
    serverName: string | null,
    anonymous = false,
  ): Promise<boolean> {
    const outcome = await this.#connection.startTls({ serverName, alpn, handshakeMs, anonymous });
    if ('reason' in outcome) {
      this.tlsError = outcome.reason;
      this.overdue ||= outcome.reason.startsWith(handshakeTimeout);
      this.#broken = true;
      return false;
    }
    this.tls = outcome.tls;
    this.#clearParts = this.#parts.length;
    this.#connection = outcome.connection;
    return true;
  }

  close(): void {
    this.#connection.close();
  }

  toBanner(endpoint: Endpoint, tlsError?: string): Banner {
    const exchange = this.#connection.exchanges.filter(
      (each) => each.sent_b64 !== '' || each.received_b64 !== '',
    );
    return {
      ...endpoint,
      ...describeBytes(this.bytes),
      probe: this.probe,
      truncated: this.truncated || this.#connection.truncated,
      partial: this.partial,
      ...(this.tls ? { tls: this.tls } : {}),
      ...tlsErrorOf(this.tlsError ?? tlsError, this.tls),
      ...this.#exchangeOf(exchange),
    };
  }

  /** A single request is identified by the name of the probe, unless its response repeats it. */
  #exchangeOf(exchange: Exchange[]): Pick<Banner, 'exchange'> {
    if (exchange.length > 1 && !this.#rewritten) return { exchange };
    const { bytes } = this;
    if (withoutRepeats(bytes, this.#requests) === bytes) return {};
    return {
      exchange: this.#requests.map((sent) => ({ sent_b64: sent.toString('base64'), received_b64: '' })),
    };
  }

  async #step(step: ProbeStep, firstMs: number): Promise<Buffer> {
    const text =
      typeof step.send === 'function' ? step.send(this.host, this.bytes, this.#pace.port) : step.send;
    const request = typeof text === 'string' ? Buffer.from(text, 'latin1') : text;
    this.#requests.push(Buffer.from(request));
    if (!(await this.#connection.write(request, step.last))) this.#broken = true;
    const reader = readGuess(step.answer, this.#pace.maxBytes);
    const before = this.#parts.length;
    // The HTTP reader has its own limits for headers and body.
    const most = () => (reader.isHttp ? Infinity : null);
    const end = await this.#read(firstMs, (bytes) => reader.end(bytes), { most });
    this.truncated ||= reader.capped;
    const response = Buffer.concat(this.#parts.slice(before));
    const mayEnd = reader.isHttp || endsWithConnection.has(step.answer);
    if (end === 'closed' && response.length > 0 && !mayEnd) this.partial = true;
    // A response of any format ends with silence.
    if (end === 'idle' && (response.length === 0 || step.answer !== 'all')) this.overdue = true;
    return response;
  }

  async #upgrade({ upgrade, inside = [] }: Probe, firstMs: number): Promise<void> {
    if (!upgrade || this.tls || !(await this.#agreeOnTls(upgrade, firstMs))) return;
    this.upgraded = await this.secure([], this.#pace.idleMs, null);
    for (const step of inside) if (this.upgraded && !this.#broken) await this.#step(step, firstMs);
    // TLS 1.3 rejects a client without a certificate one round trip after the handshake.
    const agreed = this.tls as TlsObservation | undefined;
    if (inside.length === 0 && agreed?.version === 'TLSv1.3')
      await this.#read(Math.min(longestAlertMs, alertMs + 2 * this.latencyMs), () => 0);
  }

  async #agreeOnTls(upgrade: NonNullable<Probe['upgrade']>, firstMs: number): Promise<boolean> {
    const { offered, request } = upgrade;
    if (!offered.test(this.bytes.toString('latin1'))) return false;
    if (request === null) return true;
    const response = await this.#step(request, firstMs);
    return !this.#broken && request.accepted.test(response.toString('latin1'));
  }

  async #read(firstMs: number, done: (bytes: Buffer) => number, options: ReadLimits = {}): Promise<ReadEnd> {
    const room = Math.max(1, this.#pace.maxBytes - this.bytes.length);
    const sentAt = loopClock.now();
    let responded = false;
    const { bytes, end } = await this.#connection.read({
      firstMs,
      idleMs: options.idleMs ?? this.#pace.idleMs,
      done: (received) => {
        this.onHeard(received);
        if (!responded) this.slowestMs = Math.max(this.slowestMs, loopClock.now() - sentAt);
        responded = true;
        const length = done(received);
        const most = options.most?.() ?? room;
        if (length > 0 ? length <= most : received.length <= most) return length;
        this.truncated = true;
        this.#broken = true;
        return most;
      },
    });
    if (bytes.length > 0) this.#parts.push(bytes);
    if (end !== 'match' && end !== 'idle') this.#broken = true;
    const any = this.#parts.length > 0;
    if (any && (end === 'cap' || end === 'deadline')) this.truncated = true;
    if (any && end === 'reset') this.partial = true;
    if (end === 'reset' && this.#parts.length === this.#clearParts) this.#noteAlert();
    return end;
  }

  /** The server ended the session right after the handshake. */
  #noteAlert(): void {
    const alert = this.#connection.tlsAlert;
    if (!alert || !this.tls) return;
    const required = certificateAlerts.has(alert.number);
    this.tls = {
      ...this.tls,
      ...(required ? { client_certificate: 'required' } : {}),
      error: `${tlsRejection} ${alert.name}`,
    };
  }
}

function tlsErrorOf(reason: string | undefined, tls: TlsObservation | undefined): { tls_error?: string } {
  return reason !== undefined && !tls ? { tls_error: reason } : {};
}
