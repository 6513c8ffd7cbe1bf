/**
 * A process that reads the API at a steady rate, whatever its responses take; started by bench/ui-clients.ts. The time of
 * a request counts from when it was due.
 */
import { Agent, request } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface SteadyOrder {
  base: string;
  token: string;
  /** Read in turn. */
  paths: { name: string; path: string }[];
  perSecond: number;
  /** The one whose progress is noted. */
  scanId: string;
}

interface Reading {
  name: string;
  /** When it was due, since the begin, milliseconds. */
  dueMs: number;
  ms: number;
  status: number;
}

/** How far the scan was at a time. */
export interface ScanSample {
  /** `Date.now()` of the response. */
  at: number;
  status: string;
  tried: number;
  rate: number;
}

export interface SteadyReport {
  readings: Reading[];
  samples: ScanSample[];
  /** Longest pauses of this process itself, milliseconds: its readings are no better than that. */
  ownDelayMs: { p99: number; longest: number };
}

const agent = new Agent({ keepAlive: true });
const readings: Reading[] = [];
const samples: ScanSample[] = [];
const delay = monitorEventLoopDelay({ resolution: 5 });

function run({ base, token, paths, perSecond, scanId }: SteadyOrder): void {
  delay.enable();
  const startedAt = performance.now();
  let sent = 0;
  setInterval(() => {
    for (; sent * (1000 / perSecond) <= performance.now() - startedAt; sent++) {
      const next = paths[sent % paths.length];
      const dueAt = startedAt + sent * (1000 / perSecond);
      const due = { at: dueAt, ms: dueAt - startedAt };
      if (next) read(next, `${base}${next.path}`, token, due, next.path.endsWith(scanId));
    }
  }, 5);
}

function read(
  { name }: { name: string },
  url: string,
  token: string,
  due: { at: number; ms: number },
  isScan: boolean,
): void {
  const note = (status: number) =>
    readings.push({ name, dueMs: due.ms, ms: performance.now() - due.at, status });
  const failed = () => note(0);
  request(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
    const parts: Buffer[] = [];
    response.on('data', (part: Buffer) => parts.push(part));
    response.on('end', () => {
      note(response.statusCode ?? 0);
      if (isScan && response.statusCode === 200) sample(Buffer.concat(parts).toString());
    });
    response.on('error', failed);
  })
    .on('error', failed)
    .end();
}

function sample(body: string): void {
  const { data } = JSON.parse(body) as {
    data: { status: string; progress: { tried?: number; rate: number } };
  };
  samples.push({
    at: Date.now(),
    status: data.status,
    tried: data.progress.tried ?? 0,
    rate: data.progress.rate,
  });
}

process.on('message', (order: SteadyOrder | 'report') => {
  if (order !== 'report') return run(order);
  const ownDelayMs = { p99: delay.percentile(99) / 1e6, longest: delay.max / 1e6 };
  process.send?.({ readings, samples, ownDelayMs } satisfies SteadyReport);
});
process.once('disconnect', () => process.exit());
