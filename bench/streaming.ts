/**
 * Streaming at work: 65,534 addresses of loopback, one port, 20,000 probes per second, 50 of them listening.
 * Prints when the first open port reached the event stream, when the sweep ended, how many were found and the
 * largest memory of the whole process tree.
 *
 *   node bench/streaming.ts
 */
import { createServer, type Server } from 'node:net';
import { residentBytes, ServerProcess } from '../test/program.ts';

const rate = 20_000;
const listening = 50;
const subnet = '127.64';

async function listen(): Promise<{ servers: Server[]; port: number; hosts: string[] }> {
  const servers: Server[] = [];
  const hosts = Array.from(
    { length: listening },
    (_, i) => `${subnet}.${(i * 5) % 256}.${1 + ((i * 37) % 254)}`,
  );
  let port = 0;
  for (const host of hosts) {
    const server = createServer((socket) => socket.on('error', () => {}).resume());
    await new Promise<void>((resolve) => server.listen(port, host, resolve));
    port = (server.address() as { port: number }).port;
    servers.push(server);
  }
  return { servers, port, hosts };
}

interface StreamFigures {
  firstOpenMs: number | null;
  open: Set<string>;
  endMs: number;
  status: string;
}

/** Follows the live events to their end. */
async function follow(url: string, startedAt: number): Promise<StreamFigures> {
  const figures: StreamFigures = { firstOpenMs: null, open: new Set(), endMs: 0, status: '' };
  const response = await fetch(url);
  let rest = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    rest += Buffer.from(chunk).toString();
    const events = rest.split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) take(event, figures, startedAt);
  }
  figures.endMs = performance.now() - startedAt;
  return figures;
}

function take(event: string, figures: StreamFigures, startedAt: number): void {
  const type = /^event: (.*)$/m.exec(event)?.[1];
  const data = /^data: (.*)$/m.exec(event)?.[1];
  if (type === 'port' && data) {
    figures.firstOpenMs ??= performance.now() - startedAt;
    figures.open.add((JSON.parse(data) as { host: string }).host);
  }
  if (type === 'end' && data) figures.status = (JSON.parse(data) as { status: string }).status;
}

const { servers, port, hosts } = await listen();
const server = new ServerProcess();
try {
  // As on every start but the first: the compiled code is kept when a server stops.
  await server.start();
  await server.stop();
  await server.start();
  let largest = 0;
  const watch = setInterval(() => {
    largest = Math.max(largest, residentBytes(server.pid));
  }, 100);
  const startedAt = performance.now();
  const scanId = await server.submit({ targets: [`${subnet}.0.0/16`], ports: [port], rate });
  const figures = await follow(`${server.url}/api/v1/scans/${scanId}/events`, startedAt);
  clearInterval(watch);
  const detail = await server.detail(scanId);
  const missing = hosts.filter((host) => !figures.open.has(host));
  const row = (name: string, value: string) => process.stdout.write(`${name.padEnd(44)}${value}\n`);
  row('status', detail.status);
  row('first open port on the event stream', `${((figures.firstOpenMs ?? Number.NaN) / 1000).toFixed(2)} s`);
  row('scan finished', `${(figures.endMs / 1000).toFixed(2)} s`);
  row('open ports found / listening', `${figures.open.size} / ${hosts.length}, missing ${missing.length}`);
  row('live hosts', String(detail.results.live_hosts));
  row('largest memory of the process tree', `${Math.round(largest / 1e6)} MB`);
} finally {
  await server.dispose();
  for (const listener of servers) listener.close();
}
