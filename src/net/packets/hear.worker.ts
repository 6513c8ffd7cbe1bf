import { flushCompileCache } from 'node:module';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { Chunk, clockMs } from './chunk.ts';
import { cookie, halfSipHash } from './cookie.ts';
import {
  type ChunkMessage,
  control,
  type FromHearer,
  type ThreadStart,
  type ToHearer,
} from './engine-control.ts';
import { HearingSocket } from './hearing-socket.ts';

/** Longest wait for packets, so that messages and the end are seen. */
const pollMs = 10;
/** Open endpoints of one message. */
const maxNews = 1024;
/** News are told after this time at the latest. */
const tellMs = 20;

const port = parentPort as NonNullable<typeof parentPort>;
const { control: shared, key, ownPort } = workerData as ThreadStart;
const words = new Int32Array(shared);

const post = (message: FromHearer) => port.postMessage(message);

/** What is expected of the hosts of one chunk. */
class Listening {
  readonly chunk: Chunk;
  readonly #addressBytes: number;
  /** Host number + 1 by the hash of the address: open addressing, at most half full. */
  readonly #table: Int32Array;
  readonly #hashes: Int32Array;
  /** Port number + 1 by port. */
  readonly #ports = new Uint16Array(65_536);
  #news = new Uint32Array(maxNews);
  #newsCount = 0;
  #newsSince = 0;

  constructor({ plan, memory }: ChunkMessage) {
    this.chunk = new Chunk(plan, memory);
    this.#addressBytes = plan.family === 4 ? 4 : 16;
    this.#hashes = new Int32Array(this.chunk.hostCount);
    this.#table = new Int32Array(2 ** Math.ceil(Math.log2(2 * this.chunk.hostCount + 1)));
    for (let host = 0; host < this.chunk.hostCount; host++) {
      const hash = halfSipHash(key, plan.hosts, host * this.#addressBytes, this.#addressBytes);
      this.#hashes[host] = hash;
      let place = hash & (this.#table.length - 1);
      while (this.#table[place] !== 0) place = (place + 1) & (this.#table.length - 1);
      this.#table[place] = host + 1;
    }
    for (const [number, to] of plan.ports.entries()) this.#ports[to] = number + 1;
  }

  /** The number of a host by its address in a packet, -1 when it is none of this chunk's. */
  hostAt(bytes: Buffer, at: number, addressBytes: number, hash: number): number {
    if (addressBytes !== this.#addressBytes) return -1;
    const mask = this.#table.length - 1;
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const host = (this.#table[place] as number) - 1;
      if (host < 0) return -1;
      if (this.#hashes[host] === hash && this.#isHost(host, bytes, at)) return host;
    }
  }

  /** -1 when the port is not probed. */
  portNumber(to: number): number {
    return (this.#ports[to] as number) - 1;
  }

  heard(host: number, portNumber: number, counts: Uint32Array): boolean {
    const endpoint = host * this.chunk.plan.ports.length + portNumber;
    if (!this.chunk.settle(endpoint)) return false;
    (counts[host] as number)++;
    return true;
  }

  tell(endpoint: number): void {
    if (this.#newsCount === 0) this.#newsSince = now;
    this.#news[this.#newsCount] = endpoint;
    this.#newsCount += 1;
    if (this.#newsCount === maxNews) this.flush();
  }

  flushOld(): void {
    if (this.#newsCount > 0 && ((now - this.#newsSince) & 0x7fffffff) >= tellMs) this.flush();
  }

  flush(): void {
    if (this.#newsCount === 0) return;
    const endpoints = this.#news.slice(0, this.#newsCount);
    this.#newsCount = 0;
    post({ type: 'open', id: this.chunk.plan.id, endpoints });
  }

  #isHost(host: number, bytes: Buffer, at: number): boolean {
    const { hosts } = this.chunk.plan;
    const from = host * this.#addressBytes;
    for (let index = 0; index < this.#addressBytes; index++)
      if (hosts[from + index] !== bytes[at + index]) return false;
    return true;
  }
}

const chunks = new Map<number, Listening>();
let valid = 0;
let repeated = 0;
/** Read once for each block of packets: the clock takes longer than an answer. */
let now = clockMs();

const flags = { reset: 0x04, synAck: 0x12 };

/** Reads one packet, beginning with its network header. Whatever is not an answer to a probe is passed over. */
function read(bytes: Buffer, start: number, length: number): void {
  const version = (bytes[start] as number) >>> 4;
  if (version === 4) readIpv4(bytes, start, length);
  else if (version === 6) readIpv6(bytes, start, length);
}

function readIpv4(bytes: Buffer, start: number, length: number): void {
  const header = ((bytes[start] as number) & 15) * 4;
  if (header < 20 || length < header + 8) return;
  const protocol = bytes[start + 9];
  const rest = length - header;
  if (protocol === 6 && rest >= 20) {
    readTcp(bytes, start + header, { at: start + 12, addressBytes: 4 });
  } else if (protocol === 1) {
    readError(bytes, start + header + 8, rest - 8, 4);
  }
}

function readIpv6(bytes: Buffer, start: number, length: number): void {
  if (length < 48) return;
  const next = bytes[start + 6];
  if (next === 6 && length >= 60) {
    readTcp(bytes, start + 40, { at: start + 8, addressBytes: 16 });
  } else if (next === 58) {
    readError(bytes, start + 48, length - 48, 16);
  }
}

interface Sender {
  at: number;
  addressBytes: number;
}

function readTcp(bytes: Buffer, at: number, { at: from, addressBytes }: Sender): void {
  const flag = bytes[at + 13] as number;
  const isOpen = (flag & (flags.synAck | flags.reset)) === flags.synAck;
  // A reset that acknowledges nothing proves nothing.
  if (!isOpen && (flag & 0x14) !== 0x14) return;
  const to = bytes.readUInt16BE(at);
  const acknowledged = bytes.readUInt32BE(at + 8) - 1;
  const hash = halfSipHash(key, bytes, from, addressBytes);
  const slot = slotOf(acknowledged, cookie(key, hash, (to << 16) | ownPort));
  if (slot < 0) return;
  for (const listening of chunks.values()) {
    const host = listening.hostAt(bytes, from, addressBytes, hash);
    const number = listening.portNumber(to);
    if (host < 0 || number < 0) continue;
    noteRoundTrip(slot);
    const { counts, plan } = listening.chunk;
    if (!listening.heard(host, number, isOpen ? counts.open : counts.closed)) return void repeated++;
    valid += 1;
    if (plan.untilAnswer) listening.chunk.dropped[host] = 1;
    if (isOpen) listening.tell(host * plan.ports.length + number);
    return;
  }
}

/** An ICMP error, by the beginning of the probe that it quotes: network header and eight bytes of TCP (RFC 792, 4443). */
function readError(bytes: Buffer, at: number, length: number, addressBytes: number): void {
  const header = addressBytes === 4 ? ((bytes[at] as number) & 15) * 4 : 40;
  if (header < 20 || length < header + 8) return;
  if (bytes[at + (addressBytes === 4 ? 9 : 6)] !== 6) return;
  const target = at + (addressBytes === 4 ? 16 : 24);
  const tcp = at + header;
  if (bytes.readUInt16BE(tcp) !== ownPort) return;
  const to = bytes.readUInt16BE(tcp + 2);
  const hash = halfSipHash(key, bytes, target, addressBytes);
  const slot = slotOf(bytes.readUInt32BE(tcp + 4), cookie(key, hash, (to << 16) | ownPort));
  if (slot < 0) return;
  for (const listening of chunks.values()) {
    const host = listening.hostAt(bytes, target, addressBytes, hash);
    const number = listening.portNumber(to);
    if (host < 0 || number < 0) continue;
    noteRoundTrip(slot);
    if (listening.heard(host, number, listening.chunk.counts.rejected)) valid += 1;
    else repeated += 1;
    return;
  }
}

/** When the probe was sent, in units of 8 ms modulo 256: the sequence number is the cookie plus that. -1 = forged. */
function slotOf(sequence: number, expected: number): number {
  const slot = (sequence - expected) >>> 0;
  return slot < 256 ? slot : -1;
}

function noteRoundTrip(slot: number): void {
  const ms = (((now >>> 3) - slot) & 0xff) * 8;
  if (ms > Atomics.load(words, control.roundTrip)) Atomics.store(words, control.roundTrip, ms);
}

function receive(socket: HearingSocket): void {
  for (;;) {
    const received = receiveMessageOnPort(port);
    if (!received) return;
    answer(received.message as ToHearer, socket);
  }
}

function answer(message: ToHearer, socket: HearingSocket): void {
  if (message.type === 'chunk') {
    chunks.set(message.plan.id, new Listening(message));
    post({ type: 'added', id: message.plan.id });
  } else if (message.type === 'figures') {
    const { received, dropped } = socket.figures();
    post({ type: 'figures', figures: { received, dropped, valid, repeated } });
  } else {
    const { id, last } = message;
    const listening = chunks.get(id);
    if (!listening) return;
    // First the open ports: whoever has the state has them too.
    listening.flush();
    post({ type: 'state', id, last, state: listening.chunk.state() });
    if (last) chunks.delete(id);
  }
}

function listen(): void {
  const socket = new HearingSocket(ownPort);
  post({ type: 'listening' });
  const { ring } = socket;
  const reader = (start: number, length: number) => read(ring.bytes, start, length);
  while (Atomics.load(words, control.stop) === 0) {
    receive(socket);
    now = clockMs();
    if (!ring.readBlock(reader)) socket.wait(pollMs);
    for (const listening of chunks.values()) listening.flushOld();
  }
}

// The process is ended by force: what was compiled would not be kept.
flushCompileCache();
try {
  listen();
} catch (error) {
  post({ type: 'failed', reason: (error as Error).message });
}
