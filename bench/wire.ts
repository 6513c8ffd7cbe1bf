/**
 * A wire between two interfaces of the network namespace that this is started in: it delays frames, and can stand for a host
 * that falls silent under load. Argument: JSON `WireOptions`. It ends when stdin does, and prints `WireReport`.
 */
import { readLinks } from '../src/net/packets/linux/links.ts';
import { loadSys, u32 } from '../src/net/packets/linux/sys.ts';

export interface WireOptions {
  /** Side of the scanner and side of the hosts. */
  ends: [string, string];
  /** Of each direction, milliseconds. */
  delayMs: number;
  /** SYNs a second from which no frame gets back; 0 = never. */
  silentAbove: number;
}

export interface WireReport {
  /** SYNs from the scanner. */
  probes: number;
  /** Longest time without a response while probes arrived, milliseconds. */
  longestSilenceMs: number;
}

interface Waiting {
  dueAt: number;
  frame: Buffer;
}

const afPacket = 17;
const rawNonBlocking = 3 | 0o4000;
const allProtocols = 0x0300;
const solPacket = 263;
const ignoreOutgoing = 23;
const frameBytes = 2048;
/** The load on a host is what arrived within this time, milliseconds. */
const loadWindowMs = 100;
/** A silence begins anew when no probe has arrived for so long: there was nothing to respond to. */
const pauseMs = 500;
/** Frames read before the other direction has its turn. */
const turn = 256;

const { ends, delayMs, silentAbove } = JSON.parse(process.argv[2] ?? '{}') as WireOptions;
const sys = loadSys();

/** One direction of the wire. */
class Direction {
  readonly #from: number;
  readonly #to: number;
  readonly #read = Buffer.alloc(frameBytes);
  readonly #waiting: Waiting[] = [];
  #next = 0;
  /** @returns whether the frame gets through */
  readonly #passes: (frame: Buffer, now: number) => boolean;

  constructor(from: number, to: number, passes: (frame: Buffer, now: number) => boolean) {
    this.#from = from;
    this.#to = to;
    this.#passes = passes;
  }

  move(now: number): void {
    for (let left = turn; left > 0; left--) {
      const length = sys.read(this.#from, this.#read, frameBytes);
      if (length <= 0) break;
      const frame = this.#read.subarray(0, length);
      if (this.#passes(frame, now)) this.#waiting.push({ dueAt: now + delayMs, frame: Buffer.from(frame) });
    }
    for (; (this.#waiting[this.#next]?.dueAt ?? Infinity) <= now; this.#next++) {
      const { frame } = this.#waiting[this.#next] as Waiting;
      sys.write(this.#to, frame, frame.length);
    }
    if (this.#next < 10_000) return;
    this.#waiting.splice(0, this.#next);
    this.#next = 0;
  }
}

/** What the hosts bear and how long they were silent. */
class Witness {
  probes = 0;
  longestSilenceMs = 0;
  /** Arrivals of the present window and of the one before. */
  #load: [now: number, before: number] = [0, 0];
  #windowAt = 0;
  #probedAt = Number.NEGATIVE_INFINITY;
  #silentSince: number | null = null;

  /** Of the scanner. */
  forth(frame: Buffer, now: number): boolean {
    if (!isSyn(frame)) return true;
    this.probes += 1;
    if (now - this.#probedAt > pauseMs) this.#silentSince = now;
    this.#probedAt = now;
    this.#silentSince ??= now;
    this.longestSilenceMs = Math.max(this.longestSilenceMs, now - this.#silentSince);
    this.#countLoad(now);
    return true;
  }

  /** Of the hosts. */
  back(_: Buffer, now: number): boolean {
    if (silentAbove > 0 && this.#perSecond(now) > silentAbove) return false;
    this.#silentSince = null;
    return true;
  }

  #countLoad(now: number): void {
    this.#turnWindow(now);
    this.#load[0] += 1;
  }

  #perSecond(now: number): number {
    this.#turnWindow(now);
    return (Math.max(...this.#load) * 1000) / loadWindowMs;
  }

  #turnWindow(now: number): void {
    const over = Math.floor((now - this.#windowAt) / loadWindowMs);
    if (over <= 0) return;
    this.#load = [0, over === 1 ? this.#load[0] : 0];
    this.#windowAt += over * loadWindowMs;
  }
}

/** IPv4, TCP, SYN without ACK. */
function isSyn(frame: Buffer): boolean {
  if (frame.length < 48 || frame.readUInt16BE(12) !== 0x0800 || frame[23] !== 6) return false;
  const tcp = 14 + ((frame[14] as number) & 15) * 4;
  return ((frame[tcp + 13] ?? 0) & 0x12) === 0x02;
}

function openEnd(name: string): number {
  const link = readLinks().find((each) => each.name === name);
  if (!link) throw new Error(`no interface ${name}`);
  const fd = sys.socket(afPacket, rawNonBlocking, 0);
  sys.setsockopt(fd, solPacket, ignoreOutgoing, u32(1), 4);
  const address = Buffer.alloc(20); // struct sockaddr_ll
  address.writeUInt16LE(afPacket, 0);
  address.writeUInt16LE(allProtocols, 2);
  address.writeInt32LE(link.index, 4);
  if (sys.bind(fd, address, address.length) !== 0) throw new Error(`cannot bind to ${name}`);
  return fd;
}

const [scanner, hosts] = ends.map(openEnd) as [number, number];
const witness = new Witness();
const directions = [
  new Direction(scanner, hosts, (frame, now) => witness.forth(frame, now)),
  new Direction(hosts, scanner, (frame, now) => witness.back(frame, now)),
];
let isOver = false;
process.stdin
  .on('data', () => undefined)
  .once('end', () => {
    isOver = true;
  });
const work = () => {
  if (isOver) {
    const { probes, longestSilenceMs } = witness;
    process.stdout.write(JSON.stringify({ probes, longestSilenceMs } satisfies WireReport));
    return;
  }
  for (const direction of directions) direction.move(performance.now());
  setTimeout(work, 1);
};
process.stdout.write('ready\n');
work();
