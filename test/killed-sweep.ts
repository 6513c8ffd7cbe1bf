import { existsSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import type { PortCounts, PortCoverage } from '../src/domain/host.ts';
import { compileScope } from '../src/domain/targets/scope.ts';
import { parseTargets } from '../src/domain/targets/target.ts';
import connect_scanner from '../src/modules/scanner/connect_scanner.ts';
import type { ConnectState } from '../src/modules/scanner/connect-sweep.ts';
import type { SlicedScanState } from '../src/modules/scanner/sliced-scan.ts';
import syn_scanner from '../src/modules/scanner/syn_scanner.ts';
import { PacketRateLimiter } from '../src/net/gate/rate.ts';
import { createGate } from '../src/net/gate/scoped-gate.ts';
import { tryModule } from './module-trial.ts';

/**
 * A sweep in a process that can be killed: it writes checkpoints to a file and goes on from the one that
 * it finds there. Argument: JSON. Prints a line for each checkpoint (`SweepPosition`) and for its end (`SweepEnd`).
 */
export interface KilledSweep {
  file: string;
  /** Left out it is `syn_scanner`. */
  module?: 'connect_scanner' | 'syn_scanner';
  targets: string;
  /** Ports that listen on the first target, from 2000 on. */
  listening: number;
  config: Record<string, unknown>;
  /** Discovery has seen that the only target takes so long to respond. */
  latencyMs?: number;
  /** It kills itself (SIGKILL) after the first checkpoint of such a position or later, once so many packets were sent. */
  kill?: { counter: number; packets: number };
}

/** Of one that has no chunks, nothing. */
export interface SweepPosition {
  hosts: string[];
  key: number[];
  counter: number;
  /** Ports that come first. */
  leading: number[];
}

export interface SweepEnd {
  coverage: PortCoverage;
  open: number;
}

interface Saved {
  state: { state: SlicedScanState } | ConnectState | null;
  coverage: PortCoverage;
  counts: PortCounts[];
  open: number[];
}

const checkpointMs = 200;

const trial = JSON.parse(process.argv[2] ?? '{}') as KilledSweep;
const { addresses } = parseTargets([trial.targets]);
const listeners = Array.from({ length: trial.listening }, () => createServer((socket) => socket.destroy()));
await Promise.all(
  listeners.map(
    (listener, at) => new Promise<void>((resolve) => listener.listen(2000 + at, '127.0.0.1', resolve)),
  ),
);
const saved: Saved = existsSync(trial.file)
  ? (JSON.parse(readFileSync(trial.file, 'utf8')) as Saved)
  : { state: null, coverage: { open: 0, closed: 0, filtered: 0, not_tried: 0 }, counts: [], open: [] };
const gate = createGate({
  addresses,
  scope: compileScope({ allow: ['127.0.0.0/8'], deny: [] }),
  rate: new PacketRateLimiter({ rate: 100_000 }),
});
const inputs = {
  targets: [],
  ...(trial.latencyMs && {
    discovered_hosts: [{ ip: trial.targets, latency_ms: trial.latencyMs, method: 'test' }],
  }),
};
const published = new Map<string, unknown[]>();
const { coverage } = saved;
let ask: () => unknown = () => null;

function countsNow(): PortCounts[] {
  return [...saved.counts, ...((published.get('port_counts') ?? []) as PortCounts[])];
}

function openNow(): number[] {
  const found = (published.get('open_ports') ?? []) as { port: number }[];
  return [...saved.open, ...found.map(({ port }) => port)];
}

function print(line: SweepPosition | SweepEnd): void {
  writeSync(process.stdout.fd, `${JSON.stringify(line)}\n`);
}

/** Where the first chunk is; null before there is one. */
function positionOf(state: NonNullable<Saved['state']>): SweepPosition | null {
  if ('pairs' in state) return { hosts: [], key: [], counter: 0, leading: [] };
  const { batches, leading = [] } = 'pieces' in state ? state.pieces : state.state;
  const part = batches[0]?.slices[0]?.parts[0];
  return part ? { hosts: part.hosts, key: [...part.key], counter: part.counter, leading } : null;
}

const timer = setInterval(() => {
  const state = ask() as Saved['state'];
  const position = state && positionOf(state);
  if (!position) return;
  const now: Saved = { state, coverage, counts: countsNow(), open: openNow() };
  writeFileSync(`${trial.file}.new`, JSON.stringify(now));
  renameSync(`${trial.file}.new`, trial.file);
  print(position);
  const { kill } = trial;
  if (kill && position.counter >= kill.counter && gate.packetsSent >= kill.packets)
    process.kill(process.pid, 'SIGKILL');
}, checkpointMs);

await tryModule(trial.module === 'connect_scanner' ? connect_scanner : syn_scanner, {
  config: { ...(trial.module !== 'connect_scanner' && { fallback: false }), ...trial.config },
  inputs,
  targets: [trial.targets],
  gate,
  published,
  coverage,
  restored: saved.state,
  recordedCounts: saved.counts,
  checkpoint: (state) => {
    ask = state;
  },
});
clearInterval(timer);
await gate.close();
for (const listener of listeners) listener.close();
print({ coverage, open: new Set(openNow()).size });
