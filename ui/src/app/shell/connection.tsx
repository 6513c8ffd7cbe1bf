import { useEffect, useState } from 'react';
import { serverNow } from '../../api/server-clock.ts';
import { Icon } from '../../components/icons/icon.tsx';
import { count } from '../../format/numbers.ts';
import { clockTime } from '../../format/times.ts';
import { pauseLive, useLive } from '../../live/live.ts';
import type { LiveState } from '../../live/live-state.ts';

/** A clock that ticks once a second while the page is visible. */
function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

const dots: Record<LiveState['state'], string> = {
  connecting: 'bg-state-pending',
  live: 'bg-state-completed',
  reconnecting: 'bg-state-interrupted',
  offline: 'border-2 border-state-failed',
  refused: 'bg-state-interrupted',
  forbidden: 'bg-state-pending',
  paused: 'bg-state-paused',
};

function State() {
  const live = useLive();
  const now = useNow();
  return (
    <button
      type="button"
      className="flex h-6 items-center gap-1.5 whitespace-nowrap rounded-m px-1 text-size-12 text-text-2"
      aria-pressed={live.state === 'paused'}
      title={titleOf(live.state)}
      onClick={() => pauseLive(live.state !== 'paused')}
    >
      <span className={`size-[7px] rounded-full ${dots[live.state]}`} aria-hidden="true" />
      {stateText(live)}
      <span className="text-text-3 max-tablet:hidden">{detailText(live, now)}</span>
    </button>
  );
}

function titleOf(state: LiveState['state']): string {
  if (state === 'forbidden') return 'Pages do not change by themselves: the token lacks scan:read';
  return state === 'paused' ? 'Show changes again' : 'Pause: changes wait until you go on';
}

function stateText({ state, since }: LiveState): string {
  if (state === 'live') return 'Live';
  if (state === 'paused') return 'Paused by you';
  if (state === 'offline') return `Offline since ${clock(since)}`;
  if (state === 'refused' || state === 'forbidden') return 'Not live';
  return state === 'connecting' ? 'Connecting' : 'Reconnecting';
}

function detailText({ state, lastByteAt }: LiveState, now: number): string {
  if (state !== 'live' || lastByteAt === null) return '';
  return `${Math.max(0, Math.round((now - lastByteAt) / 1000))} s ago`;
}

/** What the reader must know about the connection, in words, above the page. */
function Notices() {
  const live = useLive();
  const now = useNow();
  const text = noticeText(live, now);
  return (
    <div
      role="status"
      className="no-print pointer-events-none fixed inset-x-0 bottom-0 z-(--z-overlay) flex justify-center p-4"
    >
      {text !== '' && (
        <p className="pointer-events-auto flex max-w-[680px] items-center gap-2 rounded-l bg-surface-overlay px-4 py-3 shadow-overlay">
          <Icon name={live.state === 'live' ? 'about' : 'offline'} />
          {text}
        </p>
      )}
    </div>
  );
}

/** How long the number of events that were missed is shown, milliseconds. */
const shownMs = 10_000;
/** A connection that ends is opened again at once: shorter interruptions are not worth a notice, milliseconds. */
const patienceMs = 3000;

function noticeText(live: LiveState, now: number): string {
  const { state, since, lastByteAt, missed, draining } = live;
  if (state === 'offline' || (state === 'reconnecting' && now - (lastByteAt ?? since) > patienceMs)) {
    const seconds = Math.round((now - (lastByteAt ?? since)) / 1000);
    const shown = lastByteAt === null ? '' : ` You see the state of ${clock(lastByteAt)}.`;
    return `No connection for ${seconds} s.${shown}`;
  }
  if (state === 'refused')
    return 'The server has as many live connections as it allows. This page does not change by itself; a new try follows.';
  if (state === 'forbidden') return '';
  if (draining !== null)
    return `The server is shutting down. ${draining.saved} ${draining.saved === 1 ? 'scan is saved and goes' : 'scans are saved and go'} on at the next start.`;
  if (state === 'live' && missed > 0 && now - since < shownMs)
    return `Connected again. ${missed === 1 ? '1 event was missed and is' : `${count(missed)} events were missed and are`} in now.`;
  return '';
}

/** `14:32:14 UTC` by the clock of the server. @param at by that of the browser */
function clock(at: number): string {
  return clockTime(at + serverNow() - Date.now(), 'UTC');
}

export const Connection = { State, Notices };
