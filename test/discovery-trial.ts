import { createInterface } from 'node:readline';
import { compileScope } from '../src/domain/targets/scope.ts';
import { parseTargets } from '../src/domain/targets/target.ts';
import arp_discovery from '../src/modules/discovery/arp_discovery.ts';
import icmp_discovery from '../src/modules/discovery/icmp_discovery.ts';
import tcp_probe_discovery from '../src/modules/discovery/tcp_probe_discovery.ts';
import { PauseGate } from '../src/net/gate/pause-gate.ts';
import { PacketRateLimiter } from '../src/net/gate/rate.ts';
import { createGate } from '../src/net/gate/scoped-gate.ts';
import { tryModule } from './module-trial.ts';

const modules = { arp_discovery, icmp_discovery, tcp_probe_discovery };

/**
 * A run of a discovery module in the network namespace that this is started in. Argument: JSON; without one, a line of standard
 * input for each run. Prints `DiscoveryOutcome`.
 */
export interface DiscoveryTrial {
  module: keyof typeof modules;
  targets: string[];
  config?: Record<string, unknown>;
  /** As a user without rights. */
  unprivileged?: boolean;
  /** What a run before had saved. */
  restored?: unknown;
  /** After so many packets or hosts found: cancel the scan, hold it, or take all of its addresses away. */
  after?: { packets?: number; hosts?: number; what: 'cancel' | 'hold' | 'narrow' };
}

export interface DiscoveryOutcome {
  hosts: { ip: string; mac?: string; vendor?: string; latency_ms: number | null; method: string }[];
  warnings: string[];
  sent: number;
  unsent: [string, number][];
  /** Packets sent when `after` came, and half a second later. */
  sentAfter: [number, number] | null;
  /** What would have been saved when `after` came, or at the end. */
  state: unknown;
  error: string | null;
}

async function runTrial(trial: DiscoveryTrial): Promise<DiscoveryOutcome> {
  const hold = new PauseGate();
  const abort = new AbortController();
  const { addresses } = parseTargets(trial.targets);
  const gate = createGate({
    addresses,
    scope: compileScope({ allow: ['0.0.0.0/0', '::/0'], deny: [] }),
    rate: new PacketRateLimiter({ rate: 100_000 }),
    hold,
    signal: abort.signal,
  });
  const published = new Map<string, unknown[]>();
  const outcome: DiscoveryOutcome = {
    hosts: [],
    warnings: [],
    sent: 0,
    unsent: [],
    sentAfter: null,
    state: null,
    error: null,
  };
  if (trial.unprivileged) process.setuid?.(65_534);

  let ask: () => unknown = () => null;
  const acted = Promise.withResolvers<void>();
  const act = () => {
    const before = gate.packetsSent;
    outcome.state = ask();
    if (trial.after?.what === 'cancel') abort.abort();
    else if (trial.after?.what === 'hold') hold.hold();
    else gate.narrow((set) => set.minus(set));
    setTimeout(() => {
      outcome.sentAfter = [before, gate.packetsSent];
      hold.release();
      acted.resolve();
    }, 500);
  };
  const isDue = ({ packets = 0, hosts = 0 }: NonNullable<DiscoveryTrial['after']>) =>
    gate.packetsSent >= packets && (published.get('discovered_hosts')?.length ?? 0) >= hosts;
  let due = false;
  const watch = setInterval(() => {
    if (!trial.after || !isDue(trial.after)) return;
    clearInterval(watch);
    due = true;
    act();
  }, 5);

  try {
    const { warnings } = await tryModule(modules[trial.module], {
      ...(trial.config ? { config: trial.config } : {}),
      inputs: { targets: [] },
      gate,
      published,
      signal: abort.signal,
      restored: trial.restored,
      checkpoint: (state) => {
        ask = state;
      },
    });
    outcome.warnings = warnings;
  } catch (error) {
    outcome.error = (error as Error).message;
  }
  clearInterval(watch);
  outcome.hosts = (published.get('discovered_hosts') ?? []) as DiscoveryOutcome['hosts'];
  outcome.sent = gate.packetsSent;
  await gate.close();
  outcome.unsent = [...gate.unsent];
  outcome.state ??= ask();
  if (due) await acted.promise;
  return outcome;
}

const print = (outcome: DiscoveryOutcome) => process.stdout.write(`${JSON.stringify(outcome)}\n`);
const [order] = process.argv.slice(2);
if (order === undefined) {
  for await (const line of createInterface({ input: process.stdin }))
    print(await runTrial(JSON.parse(line) as DiscoveryTrial));
} else {
  const outcome = await runTrial(JSON.parse(order) as DiscoveryTrial);
  process.once('beforeExit', () => print(outcome));
}
