import type { Probe } from '../../knowledge/probes/probe.ts';
import { insideOrder, probeForGreeting, probeNamed } from '../../knowledge/probes/probes.ts';
import { startsHttp2, wantsHttp2 } from '../../knowledge/protocols/http2-text.ts';
import type { PortObservation } from '../../net/gate/gate.ts';
import {
  clientFirstMs,
  lateGreetingTimeouts,
  longestGreetingMs,
  type PortConnections,
} from './port-connections.ts';
import { ProbeSession } from './probe-session.ts';

/** Probes one port in TLS from the first byte. */
export class TlsProbing {
  /** TLS was tried. */
  tried = false;
  readonly #connections: PortConnections;
  /** Sent first inside TLS. */
  readonly #inner: Probe;
  readonly #shortestMs: number;

  /**
   * @param hint the usual probe of the port
   * @param shortestMs time that a probe gets at least
   */
  constructor(connections: PortConnections, hint: Probe | null, shortestMs: number) {
    this.#connections = connections;
    this.#inner = hint ?? probeNamed('http');
    this.#shortestMs = shortestMs;
  }

  /** @returns why no connection was made, or null */
  async probe(handshakeMs: number): Promise<PortObservation | null> {
    this.tried = true;
    const connections = this.#connections;
    const session = await connections.dial();
    if (!(session instanceof ProbeSession)) return session;
    const alpn = this.#inner.name === 'http' ? ['http/1.1'] : [];
    if (await session.secure(alpn, handshakeMs, connections.name)) await this.#probeInside(session);
    else connections.tlsError = session.tlsError;
    const overdue = session.overdue;
    const refused = /handshake failure/.test(session.tlsError ?? '');
    if (refused && (await this.#probeAnonymously(handshakeMs))) {
      connections.discard(session);
      connections.tlsError = undefined;
      return null;
    }
    if (await this.#probeOthersInside(session, handshakeMs)) {
      connections.discard(session);
    } else {
      connections.overdue ||= overdue;
      connections.end(session);
    }
    return null;
  }

  /** Tries other protocols inside TLS when the first one was none of the server. @returns true when one was */
  async #probeOthersInside(first: ProbeSession, handshakeMs: number): Promise<boolean> {
    const refused = wantsHttp2(first.tlsError ?? '');
    const isSilent = first.tls !== undefined && first.tls.error === undefined && first.bytes.length === 0;
    const newer = refused || isSilent || startsHttp2(first.bytes);
    if (this.#inner.name === 'http' && newer && (await this.#probeHttp2(handshakeMs))) return true;
    if (!refused && !isSilent) return false;
    const { clock, settings } = this.#connections;
    const until = clock.now() + settings.timeoutMs;
    for (const probe of insideOrder) {
      if (settings.signal.aborted || clock.now() >= until) break;
      if (probe === this.#inner) continue;
      const found = await this.#probeOneInside(probe, handshakeMs, refused);
      if (found === null) break;
      if (found) return true;
    }
    return false;
  }

  /** @returns null when the port accepts no connection any more */
  async #probeOneInside(probe: Probe, handshakeMs: number, refused: boolean): Promise<boolean | null> {
    const connections = this.#connections;
    const session = await connections.dial();
    if (!(session instanceof ProbeSession)) return null;
    const agreed = await session.secure([], handshakeMs, connections.name);
    const enough = Math.max(this.#shortestMs, connections.settings.timeoutMs / insideOrder.length);
    if (agreed) await session.ask(probe, enough, false);
    // A server that wants no name of a protocol shows its certificate to clients that offer none.
    if (session.bytes.length > 0 || (refused && agreed)) {
      connections.tlsError = undefined;
      connections.end(session);
      return true;
    }
    connections.discard(session);
    return false;
  }

  /** For servers without a certificate. @returns false when the handshake fails too */
  async #probeAnonymously(handshakeMs: number): Promise<boolean> {
    const connections = this.#connections;
    const session = await connections.dial();
    if (!(session instanceof ProbeSession)) return false;
    const agreed = await session.secure([], handshakeMs, connections.name, true);
    if (agreed) {
      await this.#probeInside(session);
      connections.end(session);
    } else {
      connections.discard(session);
    }
    return agreed;
  }

  /** For servers that speak HTTP/2 only. @returns false without a response */
  async #probeHttp2(handshakeMs: number): Promise<boolean> {
    const connections = this.#connections;
    const session = await connections.dial();
    if (!(session instanceof ProbeSession)) return false;
    const agreed =
      (await session.secure(['h2'], handshakeMs, connections.name)) && session.tls?.alpn === 'h2';
    if (agreed) await session.askHttp2();
    if (session.bytes.length === 0) {
      connections.discard(session);
      return false;
    }
    connections.end(session);
    return true;
  }

  async #probeInside(session: ProbeSession): Promise<void> {
    const { settings, endpoint } = this.#connections;
    const usualMs = this.#inner.greeting === null ? clientFirstMs : longestGreetingMs;
    // A mail server may be late on purpose, as without TLS.
    const isMail = this.#inner.service === 'smtp';
    const listenMs = isMail
      ? lateGreetingTimeouts * settings.timeoutMs
      : this.#connections.atMostHalf(usualMs);
    await session.listen(listenMs);
    const greeted = session.bytes.length > 0;
    const probe = greeted ? probeForGreeting(session.bytes, endpoint.port) : this.#inner;
    if (probe && !session.broken) await session.ask(probe, settings.timeoutMs, false);
  }
}
