import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { LiveMessage, StreamAccess } from './live-state.ts';
import { SharedStreams } from './shared-streams.ts';

const access: StreamAccess = { url: 'http://127.0.0.1/api/v1/events', headers: {} };

let requests: string[];
let send: (text: string) => void;

beforeEach(() => {
  requests = [];
  vi.stubGlobal('fetch', async (url: string) => {
    requests.push(url);
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        send = (text) => controller.enqueue(new TextEncoder().encode(text));
      },
    });
    return new Response(body);
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

it('one stream feeds all tabs: the service to each, the rows of a scan to those that show them', async () => {
  const streams = new SharedStreams();
  const got: Record<string, string[]> = { overview: [], events: [] };
  for (const [tab, scans] of [
    ['events', ['a']],
    ['overview', []],
  ] as const) {
    const receive = (message: LiveMessage) => {
      if (message.kind === 'events')
        got[tab]?.push(...message.events.map(({ event, scan }) => `${event} ${scan}`));
    };
    streams.receive({ kind: 'join', tab, access, scans }, receive);
  }
  await vi.waitFor(() => expect(send).toBeDefined());
  expect(requests).toEqual(['http://127.0.0.1/api/v1/events?scan=a']);
  send('event: scan\nid: e.1\ndata: {"scan_id":"a"}\n\nevent: host\nid: e.1;a=1\ndata: {"scan_id":"a"}\n\n');
  await vi.waitFor(() => expect(got['events']).toEqual(['scan null', 'host a']));
  expect(got['overview']).toEqual(['scan null']);
  for (const tab of ['events', 'overview']) streams.receive({ kind: 'leave', tab }, () => undefined);
});
