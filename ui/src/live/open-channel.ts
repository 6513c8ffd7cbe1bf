import type { LiveMessage, TabMessage } from './live-state.ts';
import { SharedStreams } from './shared-streams.ts';

/** A tab's way to whoever holds its stream. */
export interface Channel {
  send(message: TabMessage): void;
}

/** Through the worker that all tabs share; through the first tab where the browser has no such workers. */
export function openChannel(receive: (message: LiveMessage) => void): Channel {
  return typeof SharedWorker === 'function' ? workerChannel(receive) : electedChannel(receive);
}

function workerChannel(receive: (message: LiveMessage) => void): Channel {
  const worker = new SharedWorker(new URL('./live.worker.ts', import.meta.url), {
    type: 'module',
    name: 'portolan',
  });
  worker.port.onmessage = ({ data }: MessageEvent<LiveMessage>) => receive(data);
  return { send: (message) => worker.port.postMessage(message) };
}

type Envelope = { to: 'holder'; message: TabMessage } | { to: string; message: LiveMessage };

/**
 * The tab that holds a lock holds the streams, and the others receive its events over a channel of this origin; the next tab
 * takes over when it closes. Where locks are missing too (pages without HTTPS), each tab has its own stream.
 */
function electedChannel(receive: (message: LiveMessage) => void): Channel {
  if (typeof navigator.locks === 'undefined' || typeof BroadcastChannel === 'undefined') {
    const own = new SharedStreams();
    return { send: (message) => own.receive(message, receive) };
  }
  const channel = new BroadcastChannel('portolan-live');
  let streams: SharedStreams | null = null;
  let joined: TabMessage | null = null;
  let name = '';
  const send = (message: TabMessage) => {
    if (message.kind === 'join') {
      joined = message;
      name = message.tab;
    }
    if (streams) streams.receive(message, receive);
    else channel.postMessage({ to: 'holder', message } satisfies Envelope);
  };
  channel.onmessage = ({ data }: MessageEvent<Envelope>) => {
    if (data.to === 'holder') {
      const { message } = data as Extract<Envelope, { to: 'holder' }>;
      streams?.receive(message as TabMessage, (reply) =>
        channel.postMessage({ to: (message as TabMessage).tab, message: reply }),
      );
    } else if (data.to === name) receive(data.message as LiveMessage);
    else if (data.to === 'all' && joined) send(joined);
  };
  void navigator.locks.request('portolan-live', async () => {
    streams = new SharedStreams();
    if (joined) streams.receive(joined, receive);
    // The other tabs join the new holder.
    channel.postMessage({ to: 'all', message: { kind: 'rejected' } });
    await new Promise(() => undefined);
  });
  return { send };
}
