import { LiveConnection } from './live-connection.ts';
import type { LiveMessage, StreamAccess, TabEvent, TabMessage } from './live-state.ts';

/** A tab that says nothing for this long was closed; hidden tabs run their timers once a minute, milliseconds. */
const goneMs = 180_000;

interface Tab {
  send(message: LiveMessage): void;
  scans: readonly string[];
  seenAt: number;
}

interface Shared {
  connection: LiveConnection;
  tabs: Map<string, Tab>;
}

/** The streams of all tabs of a browser: one for each token and tenant. */
export class SharedStreams {
  readonly #shared = new Map<string, Shared>();

  receive(message: TabMessage, send: (message: LiveMessage) => void): void {
    if (message.kind === 'join') this.#join(message, send);
    if (message.kind === 'still-here') this.#seen(message.tab);
    if (message.kind === 'leave') this.#leave(message.tab);
  }

  /** Ends the streams of tabs that closed without a word. */
  sweep(now = Date.now()): void {
    for (const { tabs } of this.#shared.values()) {
      for (const [tab, { seenAt }] of tabs) if (now - seenAt > goneMs) this.#leave(tab);
    }
  }

  #join(
    { tab, access, scans }: Extract<TabMessage, { kind: 'join' }>,
    send: (message: LiveMessage) => void,
  ): void {
    const key = JSON.stringify(access);
    const isOther = ([other, { tabs }]: [string, Shared]) => other !== key && tabs.has(tab);
    if ([...this.#shared].some(isOther)) this.#leave(tab);
    const shared = this.#shared.get(key) ?? this.#openShared(key, access, scans);
    shared.tabs.set(tab, { send, scans, seenAt: Date.now() });
    shared.connection.follow(scansOf(shared));
    send({ kind: 'state', state: shared.connection.state });
  }

  #openShared(key: string, access: StreamAccess, scans: readonly string[]): Shared {
    const tabs = new Map<string, Tab>();
    const tell = (message: LiveMessage) => {
      if (message.kind === 'events') sendEvents(tabs.values(), message.events);
      else for (const { send } of tabs.values()) send(message);
      if (message.kind === 'rejected') this.#shared.delete(key);
    };
    const shared = { connection: new LiveConnection(access, tell, scans), tabs };
    this.#shared.set(key, shared);
    return shared;
  }

  #seen(tab: string): void {
    for (const { tabs } of this.#shared.values()) {
      const known = tabs.get(tab);
      if (known) known.seenAt = Date.now();
    }
  }

  #leave(tab: string): void {
    for (const [key, shared] of this.#shared) {
      if (!shared.tabs.delete(tab)) continue;
      if (shared.tabs.size > 0) shared.connection.follow(scansOf(shared));
      else {
        shared.connection.close();
        this.#shared.delete(key);
      }
    }
  }
}

/** Events of the service for all tabs, rows of a scan for those that show them. */
function sendEvents(tabs: Iterable<Tab>, events: readonly TabEvent[]): void {
  for (const { send, scans } of tabs) {
    const wanted = events.filter(({ scan }) => scan === null || scans.includes(scan));
    if (wanted.length > 0) send({ kind: 'events', events: wanted });
  }
}

function scansOf({ tabs }: Shared): string[] {
  return [...tabs.values()].flatMap(({ scans }) => scans);
}
