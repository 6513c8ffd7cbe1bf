import type { StreamEvent } from './event-text.ts';

/** What a tab knows about its stream. */
export interface LiveState {
  /** `refused`: the server has as many streams as it allows; `forbidden`: not with this token; `paused`: by the reader. */
  state: 'connecting' | 'live' | 'reconnecting' | 'offline' | 'refused' | 'forbidden' | 'paused';
  /** When this state began, by the browser's clock, milliseconds. */
  since: number;
  /** Last byte from the server within a second, by the browser's clock, milliseconds; null before the first. */
  lastByteAt: number | null;
  lastEventId: string | null;
  /** Server's clock minus the browser's, milliseconds; null before the first event. */
  clockOffset: number | null;
  /** Events that came late, after the last lost connection. */
  missed: number;
  /** The server is shutting down: scans that continue at its next start. */
  draining: { saved: number } | null;
}

export const firstState: LiveState = {
  state: 'connecting',
  since: 0,
  lastByteAt: null,
  lastEventId: null,
  clockOffset: null,
  missed: 0,
  draining: null,
};

/** An event for a tab. */
export interface TabEvent extends StreamEvent {
  /** The followed scan whose row it is; null for events of the service. */
  scan: string | null;
}

/** What the holder of a stream sends to its tabs. */
export type LiveMessage =
  | { kind: 'state'; state: LiveState }
  | { kind: 'events'; events: readonly TabEvent[] }
  | { kind: 'rejected' };

/** What a tab sends to the holder of its stream. */
export type TabMessage =
  | { kind: 'join'; tab: string; access: StreamAccess /** Whose rows it shows. */; scans: readonly string[] }
  | { kind: 'still-here'; tab: string }
  | { kind: 'leave'; tab: string };

/** How to open the stream. */
export interface StreamAccess {
  /** URL of the stream without its search. */
  url: string;
  headers: Record<string, string>;
}
