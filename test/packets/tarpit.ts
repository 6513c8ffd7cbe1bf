import { foldedChecksum, swap16, wordSum } from '../../src/net/packets/frame/frame.ts';
import { readLinks } from '../../src/net/packets/linux/links.ts';
import { loadSys } from '../../src/net/packets/linux/sys.ts';

/**
 * Answers SYNs to 10.83.0.0/16 as a bad network would, on the interface eth0 of its namespace: late, out of order,
 * several times, and among many answers that are forged. Runs until it is ended.
 */

/** What is true: only these ports are open. */
export function isOpen(lastByte: number, port: number): boolean {
  return (lastByte + port) % 10 === 0;
}

/** Longest delay of a true answer, milliseconds. */
const mostDelayMs = 60;
/** Forged answers of each millisecond, whatever is asked. */
const floodPerMs = 5;

const flag = { syn: 0x02, rst: 0x04, ack: 0x10 };

interface Syn {
  frame: Buffer;
  host: number;
  port: number;
  ownPort: number;
  sequence: number;
}

const random = (below: number) => Math.floor(Math.random() * below);

function readSyn(frame: Buffer): Syn | null {
  const isSyn = frame.length >= 54 && frame.readUInt16BE(12) === 0x0800 && frame[23] === 6;
  if (!isSyn || frame.readUInt16BE(30) !== 0x0a53 || frame[47] !== flag.syn) return null;
  return {
    frame,
    host: frame.readUInt16BE(32),
    port: frame.readUInt16BE(36),
    ownPort: frame.readUInt16BE(34),
    sequence: frame.readUInt32BE(38),
  };
}

/** An answer to a SYN; what is given stands in place of what would be right. */
function answer(
  syn: Syn,
  flags: number,
  wrong: { host?: number; port?: number; acknowledged?: number } = {},
): Buffer {
  const frame = Buffer.alloc(54);
  syn.frame.copy(frame, 0, 6, 12);
  syn.frame.copy(frame, 6, 0, 6);
  frame.writeUInt16BE(0x0800, 12);
  frame.set([0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6], 14);
  frame.writeUInt16BE(0x0a53, 26);
  frame.writeUInt16BE(wrong.host ?? syn.host, 28);
  syn.frame.copy(frame, 30, 26, 30);
  frame.writeUInt16BE(wrong.port ?? syn.port, 34);
  frame.writeUInt16BE(syn.ownPort, 36);
  frame.writeUInt32BE(random(2 ** 32), 38);
  frame.writeUInt32BE((wrong.acknowledged ?? syn.sequence + 1) >>> 0, 42);
  frame.set([0x50, flags, 0xfa, 0xf0], 46);
  frame.writeUInt16LE(foldedChecksum(wordSum(frame, 14, 20)), 24);
  const pseudo = wordSum(frame, 26, 8) + swap16(6) + swap16(20);
  frame.writeUInt16LE(foldedChecksum(pseudo + wordSum(frame, 34, 20)), 50);
  return frame;
}

/** An ICMP error, port unreachable, that quotes a probe with another sequence number (RFC 792). */
function forgedError(syn: Syn): Buffer {
  const frame = Buffer.alloc(70);
  answer(syn, 0).copy(frame, 0, 0, 34);
  frame.writeUInt16BE(56, 16);
  frame[23] = 1;
  frame.writeUInt16LE(0, 24);
  frame.writeUInt16LE(foldedChecksum(wordSum(frame, 14, 20)), 24);
  frame.set([3, 3], 34);
  syn.frame.copy(frame, 42, 14, 42);
  frame.writeUInt32BE(random(2 ** 32), 66);
  frame.writeUInt16LE(foldedChecksum(wordSum(frame, 34, 36)), 36);
  return frame;
}

/** Answers that prove nothing about any endpoint. */
function lies(syn: Syn): Buffer[] {
  const other = syn.host ^ (1 + random(3));
  const synAck = flag.syn | flag.ack;
  const elsewhere = { acknowledged: random(2 ** 32) };
  const cut = answer(syn, synAck).subarray(0, 14 + 20 + random(13));
  const longOptions = answer(syn, synAck, elsewhere);
  longOptions[46] = 0xf0;
  return [
    answer(syn, synAck, elsewhere),
    answer(syn, flag.rst | flag.ack, elsewhere),
    answer(syn, flag.rst),
    answer(syn, flag.ack),
    answer(syn, synAck, { host: other }),
    answer(syn, synAck, { port: 9999 }),
    answer(syn, synAck, { port: syn.port ^ 1 }),
    cut,
    longOptions,
    forgedError(syn),
  ];
}

function lie(): void {
  const sys = loadSys();
  const link = readLinks().find(({ name }) => name === 'eth0');
  if (!link) throw new Error('no interface eth0');
  const fd = sys.socket(17, 3 | 0x800, 0x0008); // AF_PACKET, SOCK_RAW and non-blocking, IPv4
  const address = Buffer.alloc(20); // struct sockaddr_ll
  address.writeUInt16LE(17, 0);
  address.writeUInt16BE(0x0800, 2);
  address.writeInt32LE(link.index, 4);
  if (sys.bind(fd, address, address.length) !== 0) throw new Error(`bind: errno ${sys.errno()}`);
  const send = (frame: Buffer) => sys.sendto(fd, frame, frame.length, 0, address, address.length);
  const waiting: { at: number; frame: Buffer }[] = [];
  const bytes = Buffer.alloc(2048);
  const seen: Syn[] = [];
  let floodedAt = performance.now();

  const take = (now: number) => {
    for (;;) {
      const length = sys.read(fd, bytes, bytes.length);
      if (length <= 0) return;
      const syn = readSyn(Buffer.from(bytes.subarray(0, length)));
      if (!syn) continue;
      if (seen.length < 1000) seen.push(syn);
      for (const frame of lies(syn)) send(frame);
      const flags = isOpen(syn.host & 0xff, syn.port) ? flag.syn | flag.ack : flag.rst | flag.ack;
      for (let copies = 0; copies < 3; copies++)
        waiting.push({ at: now + random(mostDelayMs), frame: answer(syn, flags) });
    }
  };
  const flood = (now: number) => {
    for (; floodedAt < now; floodedAt += 1) {
      for (let count = 0; count < floodPerMs; count++) {
        const syn = seen[random(seen.length)];
        if (syn) send(answer(syn, flag.syn | flag.ack, { acknowledged: random(2 ** 32) }));
      }
    }
  };
  const turn = () => {
    const now = performance.now();
    take(now);
    flood(now);
    for (let at = waiting.length - 1; at >= 0; at--) {
      const each = waiting[at] as { at: number; frame: Buffer };
      if (each.at > now) continue;
      send(each.frame);
      waiting[at] = waiting.at(-1) as { at: number; frame: Buffer };
      waiting.pop();
    }
    setTimeout(turn, 1);
  };
  turn();
  console.log('lying');
}

if (import.meta.main) lie();
