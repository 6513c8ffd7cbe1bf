import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { initialProgress } from '../../domain/scan-progress.ts';
import { Client } from '../session/client.ts';
import { awaitScan } from './remote-scan.ts';

let server: Server;
let url = '';

const counts = { live_hosts: 0, open_ports: 0, vulnerabilities: 0 };
const scan = {
  scan_id: 's',
  targets: ['127.0.0.1'],
  created_at: '2026-10-06T14:30:22.101Z',
  started_at: null,
  completed_at: null,
  profile: 'quick',
  name: null,
  tags: [],
  results: counts,
  progress: initialProgress(),
  error: null,
  warnings: [],
  stages: [],
};

type Answer = (response: ServerResponse, lastEventId: string | undefined) => void;

/** A server with scripted event streams, one after another; the scan has ended once they are used up. */
async function serve(streams: Answer[]): Promise<void> {
  server = createServer((request, response) => {
    if (!request.url?.endsWith('/events')) {
      const status = streams.length === 0 ? 'completed' : 'running';
      response.end(JSON.stringify({ data: { ...scan, status } }));
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
  const data = { progress: { ...initialProgress(), percent }, results: counts };
  return `id: ${id}\nevent: progress\ndata: ${JSON.stringify(data)}\n\n`;
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
        response.end(`${progressEvent(8, 90)}event: end\ndata: {}\n\n`);
      },
    ]);
    const seen = view();
    await awaitScan(new Client({ url, token: null }), 's', seen, AbortSignal.timeout(10_000));
    expect(seen.notes).toEqual(['server unreachable, retrying for 30 s']);
    expect(asked).toEqual([undefined, '7']);
    expect(seen.percents).toEqual([10, 90]);
  });

  it.each([
    ['progress', 'not json', 'event "progress" is not an object'],
    ['progress', 'null', 'event "progress" is not an object'],
    ['progress', '{"progress":{}}', 'data.progress.percent is not a number'],
    ['warning', '[]', 'data is not an object'],
    ['port', '{"type":"port","timestamp":"x"}', 'data.timestamp is not a time'],
  ])('gives up at once for an event %s with %s', async (event, data, problem) => {
    await serve([(response) => response.write(`event: ${event}\ndata: ${data}\n\n`)]);
    const seen = view();
    const waiting = awaitScan(new Client({ url, token: null }), 's', seen, AbortSignal.timeout(10_000));
    await expect(waiting).rejects.toMatchObject({
      code: 'network',
      message: expect.stringContaining(problem),
    });
    expect(seen.notes).toEqual([]);
  });

  it('ends with the signal', async () => {
    await serve([(response) => response.write(progressEvent(1, 10))]);
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error('stopped')), 100);
    const waiting = awaitScan(new Client({ url, token: null }), 's', view(), stop.signal);
    await expect(waiting).rejects.toThrow('stopped');
  });
});
