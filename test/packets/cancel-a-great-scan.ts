import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, ServerProcess } from '../program.ts';

/**
 * Runs one great scan on a server of its own until it has got on by some percent, and cancels it. Prints what was seen
 * meanwhile. Arguments: a submission as JSON, the percent, and the interface whose packets are counted.
 */
const [submission = '{}', percent = '2', link = 'eth0'] = process.argv.slice(2);
/** However slow the machine is, each of the two waits, milliseconds. */
const longestMs = 100_000;
// The namespace that it runs in leads nowhere else.
const server = new ServerProcess({ env: { SERVICE_SCANNER__SCOPE__ALLOW: '10.83.0.0/16' } });

export interface GreatScan {
  /** The most that the process of the packet engine had, bytes. */
  engineBytes: number;
  /** Percent, as they were told one after the other. */
  percents: number[];
  /** Packets that left: until the cancel was answered, and until none left for two seconds. */
  sent: [number, number];
  /** Whether it came to that. */
  isSilent: boolean;
  status: string;
}

function sentPackets(): number {
  const line = readFileSync('/proc/net/dev', 'utf8')
    .split('\n')
    .find((each) => each.trimStart().startsWith(`${link}:`));
  return Number(line?.split(':')[1]?.trim().split(/\s+/)[9]);
}

function enginesUnder(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => {
    const isEngine = readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('/engine-process.');
    return [...(isEngine ? [child] : []), ...enginesUnder(child)];
  });
}

/** Most resident memory that a process has had, bytes. */
function mostResident(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

try {
  await server.start();
  const scanId = await server.submit(JSON.parse(submission) as Record<string, unknown>);
  const percents: number[] = [];
  let engineBytes = 0;
  const until = performance.now() + longestMs;
  while (performance.now() < until && (percents.at(-1) ?? 0) < Number(percent)) {
    await sleep(500);
    percents.push((await server.detail(scanId)).progress.percent);
    engineBytes = Math.max(engineBytes, ...enginesUnder(server.pid).map(mostResident));
  }
  const { status } = await server.request(`/api/v1/scans/${scanId}/cancel`, { method: 'POST' });
  if (status !== 200) throw new Error(`cancel: ${status}`);
  const canceled = sentPackets();
  let last = canceled;
  let isSilent = false;
  const silentBy = performance.now() + longestMs;
  while (!isSilent && performance.now() < silentBy) {
    const before = sentPackets();
    await sleep(2000);
    last = sentPackets();
    // A question to a neighbor may still be on its way.
    isSilent = last - before <= 1;
  }
  const seen: GreatScan = {
    engineBytes,
    percents,
    sent: [canceled, last],
    isSilent,
    status: (await server.detail(scanId)).status,
  };
  console.log(JSON.stringify(seen));
} finally {
  await server.dispose();
}
