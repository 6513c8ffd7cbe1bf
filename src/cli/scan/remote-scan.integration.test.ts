import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Client } from '../session/client.ts';
import { awaitScan } from './remote-scan.ts';

let server: Server;
let url = '';

type Answer = (response: ServerResponse, lastEventId: string | undefined) => void;

/** A server with scripted event streams, one after another; the scan has ended once they are used up. */
async function serve(streams: Answer[]): Promise<void> {
  server = createServer((request, response) => {
    if (!request.url?.endsWith('/events')) {
      const status = streams.length === 0 ? 'completed' : 'running';
      response.end(JSON.stringify({ data: { scan_id: 's', status } }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    streams.shift()?.(response, request.headers['last-event-id'] as string | undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function view() {
  const percents: number[] = [];
  const notes: string[] = [];
  return {
    percents,
    notes,
    update: ({ progress }: { progress: { percent: number } }) => percents.push(progress.percent),
    note: (text: string) => void notes.push(text),
    row: () => undefined,
    warn: () => undefined,
  };
}

function progressEvent(id: number, percent: number): string {
  const results = { live_hosts: 0, open_ports: 0, vulnerabilities: 0 };
  return `id: ${id}\nevent: progress\ndata: ${JSON.stringify({ progress: { percent }, results })}\n\n`;
}

describe('awaitScan', () => {
  it('shows progress and ends with the end event', async () => {
    await serve([(response) => response.write(`${progressEvent(1, 10)}id: 2\nevent: end\ndata: {}\n\n`)]);
    const seen = view();
    const scan = await awaitScan(new Client({ url, token: null }), 's', seen, AbortSignal.timeout(10_000));
    expect(scan.status).toBe('completed');
    expect(seen.percents).toEqual([10]);
  });

  it('goes on after the last event it saw when the connection breaks', async () => {
    const asked: (string | undefined)[] = [];
    await serve([
      (response, id) => {
        asked.push(id);
        response.write(progressEvent(7, 10));
        setTimeout(() => response.destroy(), 50);
      },
      (response, id) => {
        asked.push(id);
        response.end(`data: not json\nevent: progress\n\n${progressEvent(8, 90)}event: end\ndata: {}\n\n`);
      },
    ]);
    const seen = view();
    await awaitScan(new Client({ url, token: null }), 's', seen, AbortSignal.timeout(10_000));
    expect(seen.notes).toEqual(['server unreachable, retrying for 30 s']);
    expect(asked).toEqual([undefined, '7']);
    expect(seen.percents).toEqual([10, 90]);
  });

  it('ends with the signal', async () => {
    await serve([(response) => response.write(progressEvent(1, 10))]);
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error('stopped')), 100);
    const waiting = awaitScan(new Client({ url, token: null }), 's', view(), stop.signal);
    await expect(waiting).rejects.toThrow('stopped');
  });
});
