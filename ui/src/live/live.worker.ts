import type { TabMessage } from './live-state.ts';
import { SharedStreams } from './shared-streams.ts';

/** Holds the event stream for all tabs: over HTTP/1.1 a browser has six connections to a server. */
const streams = new SharedStreams();
const sweepMs = 60_000;

setInterval(() => streams.sweep(), sweepMs);

(self as unknown as { onconnect: (event: MessageEvent) => void }).onconnect = ({ ports: [port] }) => {
  if (port === undefined) return;
  port.onmessage = ({ data }: MessageEvent<TabMessage>) =>
    streams.receive(data, (message) => port.postMessage(message));
};
