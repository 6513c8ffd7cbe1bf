import type { Probe } from '../../knowledge/probes/probe.ts';
import { probesAfter } from '../../knowledge/probes/probes.ts';
import { iconPath, iconProbe } from '../../knowledge/requests/favicon.ts';
import { pageProbe, redirectNames, redirectPath } from '../../knowledge/requests/redirect.ts';
import type { PortConnections } from './port-connections.ts';
import { ProbeSession } from './probe-session.ts';

/**
 * Sends the probes that follow from the responses so far, one after the other, each on a connection of its own. Their
 * responses do not identify the service.
 */
export async function probeFurther(connections: PortConnections): Promise<void> {
  const { ask } = connections.settings;
  const best = connections.best();
  if (!ask || (best === null && !connections.anyFinished)) return;
  // A server whose response did not end would not end another one.
  if (best?.truncated) return;
  const secure = best?.tls !== undefined && !best.upgraded;
  await new FurtherProbes(connections, secure).run(best?.bytes ?? Buffer.alloc(0));
}

class FurtherProbes {
  readonly #connections: PortConnections;
  /** The service speaks TLS from the first byte. */
  readonly #secure: boolean;
  /** The port accepts no connection any more. */
  #lost = false;

  constructor(connections: PortConnections, secure: boolean) {
    this.#connections = connections;
    this.#secure = secure;
  }

  /** @param first response that identified the service, or nothing */
  async run(first: Buffer): Promise<void> {
    const { endpoint, settings, name } = this.#connections;
    const { intrusive, thorough, signal } = settings;
    const secure = this.#secure;
    const responses = [first];
    for (const redirect of redirectNames) {
      const path = redirectPath(responses.at(-1) as Buffer, { ...endpoint, name, secure });
      const page = path === null || signal.aborted ? null : await this.#send(pageProbe(redirect, path));
      if (!page) break;
      responses.push(page.bytes);
    }
    const icon = iconPath(responses.at(-1) as Buffer, { ...endpoint, name, secure });
    if (icon !== null && !signal.aborted) await this.#send(iconProbe(icon));
    const circumstances = { intrusive, thorough, secure };
    const due = responses.flatMap((bytes) => probesAfter(bytes, endpoint.port, circumstances));
    for (const probe of new Set(due)) {
      if (signal.aborted) return;
      await this.#send(probe);
    }
  }

  /** Sends a probe on a new connection. @returns null without a response */
  async #send(probe: Probe): Promise<ProbeSession | null> {
    const connections = this.#connections;
    const { timeoutMs, tls } = connections.settings;
    const session = this.#lost ? null : await connections.dial();
    if (!(session instanceof ProbeSession)) {
      this.#lost = true;
      return null;
    }
    const ready = !this.#secure || (await session.secure([], timeoutMs, connections.name));
    if (ready && probe.greeting) await session.listen(connections.greetingMs);
    const inside = tls && probe.inside !== undefined;
    // A mail server that is late with its greeting gets no byte before.
    const isGreeted = probe.greeting === null || session.bytes.length > 0;
    if (ready && isGreeted && !session.broken) await session.ask(probe, timeoutMs, inside);
    connections.overdue ||= session.overdue;
    connections.endFurther(session);
    return session.bytes.length === 0 ? null : session;
  }
}
