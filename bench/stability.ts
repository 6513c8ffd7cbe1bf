import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type LabFleet, portolan } from './fleet.ts';

/** Workers of stress-ng that take processor time from scanner and fleet. */
const stressWorkers = 4;

/** Share of all observed ports that may carry a mark. */
const mostMarked = 0.02;

/** What one round said of one port. */
interface Observation {
  /** Service, product and version. */
  identity: string;
  /** Why probes had no time, or null. */
  mark: string | null;
}

interface Round {
  seconds: number;
  /** By `host:port/protocol`. */
  ports: Map<string, Observation>;
  /** `summary.unidentified` */
  counted: Record<string, number>;
}

interface Loss {
  port: string;
  /** Counted from 1. */
  round: number;
  expected: string;
  seen: string;
  mark: string | null;
}

/**
 * Scans the same hosts again and again beside processes that take all processor time. Every round must name the same
 * products and versions; a port that lost its identity must say so.
 *
 * @returns true when all bars were met
 */
export async function benchStability(
  fleet: LabFleet,
  { rounds, profile }: { rounds: number; profile: string },
): Promise<boolean> {
  const truths = fleet.up();
  const targets = [...new Set(truths.map(({ ip }) => ip))];
  const ports = [...new Set(truths.filter(({ protocol }) => protocol === 'tcp').map(({ port }) => port))];
  const stress = await startStress();
  const done: Round[] = [];
  try {
    for (let number = 1; number <= rounds; number++) {
      const round = await scanOnce(fleet, profile, targets, ports.join(','));
      done.push(round);
      const marked = [...round.ports].filter(([, { mark }]) => mark !== null);
      const marks = marked.map(([port, { mark }]) => `${port} ${mark}`).join(', ') || 'none';
      console.log(
        `round ${number}: ${round.ports.size} ports in ${round.seconds.toFixed(1)} s, marked: ${marks}`,
      );
    }
  } finally {
    await endStress(stress);
  }
  return report(done);
}

async function startStress(): Promise<ChildProcess> {
  const child = spawn('stress-ng', ['--cpu', String(stressWorkers), '--quiet'], { stdio: 'ignore' });
  await once(child, 'spawn');
  return child;
}

async function endStress(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) throw new Error(`stress-ng ended by itself with ${child.exitCode}`);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function scanOnce(fleet: LabFleet, profile: string, targets: string[], ports: string): Promise<Round> {
  const place = ['--workspace-dir', join(fleet.folder, 'workspace')];
  const options = ['--profile', profile, '--ports', ports, '--format', 'json', '--quiet', ...place];
  const { seconds, output } = await fleet.run([
    process.execPath,
    portolan,
    'scan',
    targets.join(','),
    ...options,
  ]);
  const { results, summary } = JSON.parse(output) as {
    summary: { unidentified?: Record<string, number> };
    results: {
      host: string;
      ports: {
        port: number;
        protocol: string;
        service: { name: string; product: string | null; version: string | null } | null;
        unidentified_reason?: string | null;
      }[];
    }[];
  };
  const seen = new Map<string, Observation>();
  for (const { host, ports: open } of results) {
    for (const { port, protocol, service, unidentified_reason } of open) {
      const { name = '', product = null, version = null } = service ?? {};
      const identity = [name, product, version].filter(Boolean).join(' ');
      seen.set(`${host}:${port}/${protocol}`, { identity, mark: unidentified_reason ?? null });
    }
  }
  return { seconds, ports: seen, counted: summary.unidentified ?? {} };
}

function report(rounds: readonly Round[]): boolean {
  const losses = lossesOf(rounds);
  const observed = rounds.reduce((sum, { ports }) => sum + ports.size, 0);
  const marked = rounds.flatMap(({ ports }) =>
    [...ports.values()].filter(({ mark }) => mark !== null),
  ).length;
  const miscounted = rounds.filter(({ ports, counted }) => {
    const marks = [...ports.values()].filter(({ mark }) => mark !== null).length;
    return Object.values(counted).reduce((sum, count) => sum + count, 0) !== marks;
  });
  const unmarked = losses.filter(({ mark }) => mark === null);
  for (const { port, round, expected, seen, mark } of losses) {
    const said = mark === null ? 'NOT MARKED' : `marked ${mark}`;
    console.log(`lost: ${port} in round ${round}: "${seen || 'nothing'}" for "${expected}", ${said}`);
  }
  const share = observed === 0 ? 0 : (100 * marked) / observed;
  console.log(
    `${rounds.length} rounds, ${observed} ports seen: ${losses.length} lost their identity ` +
      `(${unmarked.length} of them not marked), ${marked} marked (${share.toFixed(1)} %)`,
  );
  const missed = [
    ...(losses.length > 0 ? ['identical names and versions in all rounds'] : []),
    ...(unmarked.length > 0 ? ['no loss without a mark'] : []),
    ...(marked > mostMarked * observed ? [`at most ${100 * mostMarked} % of ports marked`] : []),
    ...(miscounted.length > 0 ? ['summary.unidentified counts the marks'] : []),
  ];
  console.log(missed.length > 0 ? `Bars missed: ${missed.join('; ')}` : 'Every bar met');
  return missed.length === 0;
}

/** Rounds in which a port was not what it was in most of them. */
function lossesOf(rounds: readonly Round[]): Loss[] {
  const ports = new Set(rounds.flatMap((round) => [...round.ports.keys()]));
  return [...ports].sort().flatMap((port) => {
    const seen = rounds.map((round) => round.ports.get(port) ?? { identity: 'port not seen', mark: null });
    const expected = usual(seen.map(({ identity }) => identity));
    return seen.flatMap(({ identity, mark }, index) =>
      identity === expected ? [] : [{ port, round: index + 1, expected, seen: identity, mark }],
    );
  });
}

/** The most frequent text; of equally frequent ones the longest, which says most. */
function usual(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const [first = ['', 0]] = [...counts].sort(([a, ofA], [b, ofB]) => ofB - ofA || b.length - a.length);
  return first[0];
}
