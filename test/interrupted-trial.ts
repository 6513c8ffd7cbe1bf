import { setTimeout as sleep } from 'node:timers/promises';
import type { PortCounts, PortCoverage } from '../src/domain/host.ts';
import type { ModuleDefinition } from '../src/engine/module.ts';
import type { NetworkGate } from '../src/net/gate/gate.ts';
import { type Trial, tryModule } from './module-trial.ts';

/** Pairs between the last checkpoint of a run and its kill. */
const lag = 60;

interface InterruptedInput {
  module: ModuleDefinition;
  config: Record<string, unknown>;
  targets: string[];
  /** Hosts that discovery gives, in every run anew; null = the targets are swept. */
  discovered: readonly string[] | null;
  /** Each of these runs is killed some pairs after so many; a further one goes on to the end. */
  checkpointsAt: readonly number[];
  /** A gate that tells of each pair `host:port` that is begun. */
  gate(onPair: (pair: string) => void): NetworkGate;
  /** Pairs under way as a state has them. */
  openIn(state: unknown): string[];
}

export interface InterruptedOutcome {
  /** Pairs that were begun twice in one run, or although a checkpoint had their outcome. */
  repeated: string[];
  /** Every pair that was begun. */
  pairs: Set<string>;
  /** How each host ended, as the record has it. */
  counts: PortCounts[];
  coverage: PortCoverage;
}

interface Left {
  state: unknown;
  coverage: PortCoverage;
  pairs: string[];
  counts: PortCounts[];
}

/** Runs a sweep that is killed again and again; each run begins with what a kill -9 of the one before leaves. */
export async function sweepWithKills(input: InterruptedInput): Promise<InterruptedOutcome> {
  const outcome: InterruptedOutcome = { repeated: [], pairs: new Set(), counts: [], coverage: noCoverage() };
  const settled = new Set<string>();
  let state: unknown = null;
  for (const checkpointAt of [...input.checkpointsAt, Infinity]) {
    const left = await runUntil(input, { state, ...outcome }, checkpointAt);
    const again = (pair: string, at: number) => settled.has(pair) || left.pairs.indexOf(pair) < at;
    outcome.repeated.push(...left.pairs.filter(again));
    for (const pair of left.pairs) outcome.pairs.add(pair);
    outcome.counts = [
      ...new Map([...outcome.counts, ...left.counts].map((each) => [each.host, each])).values(),
    ];
    outcome.coverage = left.coverage;
    state = left.state;
    const open = new Set(state === null ? [] : input.openIn(state));
    for (const pair of left.pairs.slice(0, checkpointAt)) if (!open.has(pair)) settled.add(pair);
  }
  return outcome;
}

async function runUntil(
  input: InterruptedInput,
  before: { state: unknown; coverage: PortCoverage; counts: PortCounts[] },
  checkpointAt: number,
): Promise<Left> {
  const published = new Map<string, unknown[]>();
  const coverage = { ...before.coverage };
  const kill = new AbortController();
  const pairs: string[] = [];
  let stateOf: () => unknown = () => null;
  let checkpoint: Pick<Left, 'state' | 'coverage'> | null = null;
  let left: Left | null = null;
  const gate = input.gate((pair) => {
    pairs.push(pair);
    if (pairs.length === checkpointAt)
      checkpoint = { state: JSON.parse(JSON.stringify(stateOf())), coverage: { ...coverage } };
    if (pairs.length !== checkpointAt + lag || !checkpoint) return;
    left = { ...checkpoint, pairs: [...pairs], counts: countsIn({ published }) };
    kill.abort(new Error('killed'));
  });
  const { config, targets, discovered } = input;
  const running = tryModule(input.module, {
    config,
    targets,
    inputs: {
      targets: [],
      ...(discovered && { discovered_hosts: lateWhen(before.state !== null, discovered) }),
    },
    gate,
    published,
    coverage,
    restored: before.state,
    recordedCounts: before.counts,
    signal: kill.signal,
    checkpoint: (state) => {
      stateOf = state;
    },
  });
  if (checkpointAt === Infinity) await running;
  else await running.catch(() => undefined);
  if (checkpointAt !== Infinity && !left) throw new Error('the sweep ended before it could be killed');
  return left ?? { state: null, coverage, pairs, counts: countsIn({ published }) };
}

/** In a resumed sweep they come when it is done with some of those that it had under way. */
async function* lateWhen(
  isResumed: boolean,
  hosts: readonly string[],
): AsyncGenerator<object, void, undefined> {
  if (isResumed) await sleep(150);
  for (const ip of hosts) yield { ip, method: 'test' };
}

function countsIn({ published }: Pick<Trial, 'published'>): PortCounts[] {
  return [...((published.get('port_counts') ?? []) as PortCounts[])];
}

function noCoverage(): PortCoverage {
  return { open: 0, closed: 0, filtered: 0, not_tried: 0 };
}
