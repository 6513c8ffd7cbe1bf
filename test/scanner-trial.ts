import { createServer } from 'node:net';
import type { PortCounts } from '../src/domain/host.ts';
import { compileScope } from '../src/domain/targets/scope.ts';
import { parseTargets } from '../src/domain/targets/target.ts';
import type { Traffic } from '../src/domain/traffic.ts';
import connect_scanner from '../src/modules/scanner/connect_scanner.ts';
import syn_scanner from '../src/modules/scanner/syn_scanner.ts';
import { createGate } from '../src/net/gate/scoped-gate.ts';
import { ScanControl } from '../src/scan-run/control.ts';
import { tryModule } from './module-trial.ts';

/** A sweep of ports on loopback of the namespace that this is started in. Argument: JSON. Prints `ScannerOutcome`. */
export interface ScannerTrial {
  module: 'connect_scanner' | 'syn_scanner';
  /** Ports that listen, from 2000 on. */
  listening: number;
  config: Record<string, unknown>;
  /** Packets per second; 100,000 unless given. */
  rate?: number | 'auto';
  /** Loopback addresses; 127.0.0.1 unless given. */
  targets?: string;
}

export interface ScannerOutcome {
  counts: PortCounts[];
  open: number;
  traffic: Traffic;
  /** Highest rate so far, packets per second. */
  highest: number | null;
}

const trial = JSON.parse(process.argv[2] ?? '{}') as ScannerTrial;
const listeners = Array.from({ length: trial.listening }, () => createServer((socket) => socket.destroy()));
await Promise.all(
  listeners.map(
    (listener, at) => new Promise<void>((resolve) => listener.listen(2000 + at, '0.0.0.0', resolve)),
  ),
);
const control = new ScanControl({ rate: trial.rate ?? 100_000, mostRate: 100_000 });
const gate = createGate({
  addresses: parseTargets([trial.targets ?? '127.0.0.1']).addresses,
  scope: compileScope({ allow: ['127.0.0.0/8'], deny: [] }),
  rate: control.rate,
  adaptive: control.adaptive,
});
const { published } = await tryModule({ connect_scanner, syn_scanner }[trial.module], {
  config: trial.config,
  inputs: { targets: [] },
  gate,
});
await gate.close();
for (const listener of listeners) listener.close();
const outcome: ScannerOutcome = {
  counts: (published.get('port_counts') ?? []) as PortCounts[],
  open: published.get('open_ports')?.length ?? 0,
  traffic: gate.traffic,
  highest: gate.reached?.highest ?? null,
};
process.once('beforeExit', () => process.stdout.write(`${JSON.stringify(outcome)}\n`));
