import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentBytes } from '../test/program.ts';
import type { Counters, Netlab } from './netlab.ts';

/** One run of a program on the scanner's host. */
export interface Measurement {
  /** Epoch milliseconds. */
  startedAt: number;
  /** Of the whole process. */
  seconds: number;
  /** From the start of the process to the last packet that left. */
  lastPacketSeconds: number;
  /** The same to the first one. */
  firstPacketSeconds: number;
  /** Packets that left, the kernel's own included. */
  packets: number;
  /** Packets without the RSTs of the scanner's own kernel. */
  probes: number;
  /** Packets per second between a tenth and nine tenths of them. */
  packetsPerSecond: number;
  /** Of the process and all its children. */
  cpuSeconds: number;
  /** Most resident memory of the process tree at once, sampled. */
  residentBytes: number;
  exitCode: number | null;
  /** Ended by the bench: after its time, or because it hung after its work. */
  ended: 'itself' | 'quiet' | 'timeout';
  outputs: string[];
  errors: string;
}

export interface MeasureOptions {
  timeoutMs: number;
  env?: NodeJS.ProcessEnv;
  cwd: string;
  /** The program hangs after its work: it is killed this long after its last packet, once it has sent so many. */
  quiet?: { afterPackets: number; ms: number };
}

interface Sample {
  /** Since the start, milliseconds. */
  at: number;
  sent: number;
}

/** Reading the counters takes a tenth of this. */
const clearReadMs = 2;

const running = new Set<ChildProcess>();

/** Kills what `measure` has started. */
export function endRunning(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Runs the commands side by side to their end and watches the counters of the lab. Nothing else may send there. */
export async function measure(
  lab: Netlab,
  commands: string[][],
  options: MeasureOptions,
): Promise<Measurement> {
  const before = lab.counters();
  const cpuBefore = childrenCpuSeconds();
  const startedAt = performance.now();
  const startedAtEpoch = Date.now();
  const children = commands.map((words) => start(lab.command(words), options));
  const watch = new Watch(lab, before, startedAt, options);
  const [outputs, errors] = await Promise.all([
    Promise.all(children.map(({ output }) => output)),
    Promise.all(children.map(({ error }) => error)),
    watch.until(children.map(({ child }) => child)),
  ]);
  const seconds = (watch.endedAt - startedAt) / 1000;
  const after = lab.counters();
  const packets = after.sent - before.sent;
  return {
    startedAt: startedAtEpoch,
    seconds,
    lastPacketSeconds: watch.lastPacketAt / 1000,
    firstPacketSeconds: (watch.samples[0]?.at ?? Number.NaN) / 1000,
    packets,
    probes: packets - (after.resets - before.resets),
    packetsPerSecond: rateOf(watch.samples, packets),
    cpuSeconds: childrenCpuSeconds() - cpuBefore,
    residentBytes: watch.residentBytes,
    exitCode: children[0]?.child.exitCode ?? null,
    ended: watch.ended,
    outputs,
    errors: errors.join(''),
  };
}

function start(words: string[], options: MeasureOptions) {
  const [file = '', ...args] = words;
  const child = spawn(file, args, { env: options.env, cwd: options.cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.once('close', () => running.delete(child));
  return { child, output: text(child.stdout), error: text(child.stderr) };
}

/** Reads the counters every few milliseconds, and ends programs that do not end themselves. */
class Watch {
  readonly samples: Sample[] = [];
  ended: Measurement['ended'] = 'itself';
  endedAt = 0;
  residentBytes = 0;
  readonly #lab: Netlab;
  readonly #before: Counters;
  readonly #startedAt: number;
  readonly #options: MeasureOptions;

  constructor(lab: Netlab, before: Counters, startedAt: number, options: MeasureOptions) {
    this.#lab = lab;
    this.#before = before;
    this.#startedAt = startedAt;
    this.#options = options;
  }

  /** Milliseconds from the start. */
  get lastPacketAt(): number {
    return this.samples.at(-1)?.at ?? 0;
  }

  async until(children: ChildProcess[]): Promise<void> {
    let left = children.length;
    const ends = children.map(async (child) => {
      await once(child, 'exit');
      left -= 1;
      if (left === 0) this.endedAt = performance.now();
    });
    for (let round = 0; left > 0; round++) {
      this.#sample();
      if (round % 8 === 0) this.#weigh(children);
      if (this.ended === 'itself') this.#endWhenOver(children);
      await sleep(4);
    }
    await Promise.all(ends);
    this.#sample(true);
  }

  #sample(isLast = false): void {
    const readFrom = performance.now();
    const sent = this.#lab.counters().sent - this.#before.sent;
    const readTo = performance.now();
    // A process that was interrupted while it read does not know when the count was true.
    if (readTo - readFrom > clearReadMs && !isLast) return;
    const at = readTo - this.#startedAt;
    if (sent !== (this.samples.at(-1)?.sent ?? 0)) this.samples.push({ at, sent });
  }

  #weigh(children: ChildProcess[]): void {
    const bytes = children.reduce((sum, { pid }) => sum + (pid ? residentBytes(pid) : 0), 0);
    this.residentBytes = Math.max(this.residentBytes, bytes);
  }

  #endWhenOver(children: ChildProcess[]): void {
    const now = performance.now() - this.#startedAt;
    const { quiet, timeoutMs } = this.#options;
    const last = this.samples.at(-1);
    if (now > timeoutMs) this.ended = 'timeout';
    else if (quiet && last && last.sent >= quiet.afterPackets && now - last.at > quiet.ms)
      this.ended = 'quiet';
    if (this.ended !== 'itself') for (const child of children) child.kill('SIGKILL');
  }
}

/** Between a tenth and nine tenths of the packets, so that start-up and what trails behind do not count. */
function rateOf(samples: Sample[], packets: number): number {
  const from = samples.find(({ sent }) => sent >= packets / 10);
  const to = samples.findLast(({ sent }) => sent <= (packets * 9) / 10);
  if (!from || !to || to.at <= from.at) return Number.NaN;
  return ((to.sent - from.sent) * 1000) / (to.at - from.at);
}

/** Processor time of all children that have ended, and of theirs (proc_pid_stat(5), fields 16 and 17). */
function childrenCpuSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) / 100;
}
