import { useEffect, useSyncExternalStore } from 'react';
import { accessHeaders } from '../api/credentials.ts';
import { setClockOffset } from '../api/server-clock.ts';
import { tokenRejected } from '../session/session.ts';
import { apiPath } from '../url/paths.ts';
import { HeldEvents } from './held-events.ts';
import { LiveEvent, resetEvent } from './live-event.ts';
import { firstState, type LiveMessage, type LiveState } from './live-state.ts';
import { type Channel, openChannel } from './open-channel.ts';

export type { LiveEvent } from './live-event.ts';

const stillHereMs = 30_000;
/** Names this tab at the holder of the stream. */
const tab = Array.from(crypto.getRandomValues(new Uint32Array(3)), (part) => part.toString(36)).join('');

let state: LiveState = firstState;
let isPaused = false;
let channel: Channel | null = null;
const stateListeners = new Set<() => void>();
const eventListeners = new Set<(event: LiveEvent) => void>();
const held = new HeldEvents();
/** Pages that show each scan. */
const followed = new Map<string, number>();

/** Opens the stream of this tab; again after another token. */
export function startLive(): void {
  if (channel === null) {
    channel = openChannel(receive);
    setInterval(() => channel?.send({ kind: 'still-here', tab }), stillHereMs);
    addEventListener('pagehide', () => channel?.send({ kind: 'leave', tab }));
    addEventListener('pageshow', ({ persisted }) => persisted && join());
    document.addEventListener('visibilitychange', showHeld);
  }
  join();
}

export function stopLive(): void {
  channel?.send({ kind: 'leave', tab });
  held.take();
  change({ ...firstState, since: Date.now() });
}

/** Stops and resumes showing changes; the stream stays open, so nothing is lost. */
export function pauseLive(paused: boolean): void {
  isPaused = paused;
  change(state);
  if (!paused) publish(resetEvent());
}

export function useLive(): LiveState {
  return useSyncExternalStore(subscribe, shownState);
}

/** Whether a server that was there is lost; for the many who need no more of the state. */
export function useIsOffline(): boolean {
  return useSyncExternalStore(subscribe, isOffline);
}

function isOffline(): boolean {
  return state.state === 'offline' && state.lastByteAt !== null;
}

/** Calls back for each event of the service, and of the scans that this tab follows. */
export function onLiveEvent(listener: (event: LiveEvent) => void): () => void {
  eventListeners.add(listener);
  return () => eventListeners.delete(listener);
}

/** Receives the rows of a scan while something shows them: thousands a second. */
function useFollowedScan(scanId: string): void {
  useEffect(() => {
    followed.set(scanId, (followed.get(scanId) ?? 0) + 1);
    join();
    return () => {
      const left = (followed.get(scanId) ?? 1) - 1;
      if (left > 0) followed.set(scanId, left);
      else followed.delete(scanId);
      join();
    };
  }, [scanId]);
}

/** Calls back for each row of a scan, and follows it. How far the scan is comes with the events of the service. */
export function useScanEvents(scanId: string, onEvent: (event: LiveEvent) => void): void {
  useFollowedScan(scanId);
  useEffect(() => onLiveEvent((event) => event.scan === scanId && onEvent(event)), [scanId, onEvent]);
}

let shown: LiveState = firstState;
let shownOf: { state: LiveState; isPaused: boolean } = { state, isPaused };

function shownState(): LiveState {
  if (shownOf.state !== state || shownOf.isPaused !== isPaused) {
    shownOf = { state, isPaused };
    shown = isPaused && state.state === 'live' ? { ...state, state: 'paused' } : state;
  }
  return shown;
}

function join(): void {
  const url = `${apiPath}/api/v1/events`;
  const access = { url, headers: accessHeaders() };
  channel?.send({ kind: 'join', tab, access, scans: [...followed.keys()] });
}

function receive(message: LiveMessage): void {
  if (message.kind === 'rejected') tokenRejected();
  else if (message.kind === 'state') change(message.state);
  else if (!isPaused) for (const event of message.events) take(new LiveEvent(event));
}

/** Events of the service change the page; rows go to those who collect them. */
function take(event: LiveEvent): void {
  if (document.hidden && event.scan === null) held.add(event);
  else publish(event);
}

function publish(event: LiveEvent): void {
  for (const listener of eventListeners) listener(event);
}

function showHeld(): void {
  if (document.hidden) return;
  for (const event of held.take()) publish(event);
  notify();
}

function change(next: LiveState): void {
  if (next.clockOffset !== null) setClockOffset(next.clockOffset);
  const isSame = next.state === state.state && next.draining === state.draining;
  state = next === state ? { ...next } : next;
  // When the last byte came is drawn once somebody sees it.
  if (!document.hidden || !isSame) notify();
}

function notify(): void {
  for (const listener of stateListeners) listener();
}

function subscribe(listener: () => void): () => void {
  stateListeners.add(listener);
  return () => stateListeners.delete(listener);
}
