import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Exchange, TlsObservation } from '../../domain/text/banner.ts';
import type { ProbeErrorKind } from '../../domain/traffic.ts';
import { onAbort } from '../abort.ts';
import type {
  Connection,
  DialOptions,
  DialResult,
  ReadEnd,
  ReadOptions,
  TlsExamination,
  TlsExaminationOptions,
  TlsOptions,
} from '../gate/gate.ts';
import { loopClock } from '../loop-clock.ts';
import { peerAlert, startTls } from '../tls/tls.ts';
import { examineTls } from '../tls/tls-examination.ts';
import { type AttemptOptions, attempt } from './attempt.ts';

/** Read-ahead of Node in bytes; the socket is paused while there is no reader. */
const readAhead = 16 * 1024;

/** Longest wait for the peer to close too, of a connection that ends in order, milliseconds. */
const lastWordsMs = 1000;

/** Maximum bytes stored of a request. */
const maxSentBytes = 4096;

type Dialed = DialResult & { closed?: Promise<void> };

interface Reporting {
  /** Called for each failure after the connection was accepted. */
  onError(kind: ProbeErrorKind): void;
  /** End the connection by a FIN, not by a reset. */
  inOrder: boolean;
}

/** Connects and keeps the connection open for a session. `closed` resolves when the socket is gone. */
export async function dial(
  host: string,
  port: number,
  options: DialOptions & Reporting & Pick<AttemptOptions, 'synMs' | 'again' | 'onRepeat' | 'door' | 'egress'>,
): Promise<Dialed> {
  const { synMs, signal, again, onRepeat, door, egress, inOrder } = options;
  const releaseClock = loopClock.use();
  const startedAt = loopClock.now() - door.pausedMs;
  const timeoutMs = Math.min(options.connectMs ?? options.deadlineMs, options.deadlineMs);
  const outcome = await attempt(host, port, {
    timeoutMs,
    synMs,
    signal,
    again,
    onRepeat,
    door,
    egress,
    readAhead,
  });
  if ('failure' in outcome) {
    releaseClock();
    return outcome;
  }
  const { socket, latencyMs } = outcome;
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  });
  void closed.then(releaseClock);
  // While nothing may be sent, even the acknowledgment of received data is too much.
  const forget = door.onChange((held) => held && hangUp(socket, inOrder));
  void closed.then(forget);
  if (door.held) hangUp(socket, inOrder);
  const deadline = startedAt + door.pausedMs + options.deadlineMs;
  const { maxBytes, onError } = options;
  const budget: Budget = { deadline, bytesLeft: maxBytes, exchanges: [], signal, onError, inOrder };
  return { connection: new SocketConnection(socket, socket, latencyMs, budget), closed };
}

/** Remaining limits of a session, shared by the connection and the TLS inside it. */
interface Budget extends Reporting {
  /** loopClock.now() at which the session ends. */
  deadline: number;
  bytesLeft: number;
  exchanges: RawExchange[];
  signal: AbortSignal;
}

interface RawExchange {
  sent: Uint8Array;
  received: Buffer[];
}

class SocketConnection implements Connection {
  readonly latencyMs: number;
  truncated = false;
  tlsAlert: Connection['tlsAlert'] = null;
  #stream: Socket | TLSSocket;
  #socket: Socket;
  #budget: Budget;
  #inbox = new Inbox();
  #end: ReadEnd | null = null;
  #lastByteAt = 0;
  #reader: ((end: ReadEnd) => void) | null = null;
  #onBytes: (() => void) | null = null;
  #failWrite: (() => void) | null = null;
  #forgetDeadline: () => void;
  #forgetAbort: () => void;
  #detach: () => void;

  /** @param stream to read and write; `socket` the TCP socket below it */
  constructor(stream: Socket | TLSSocket, socket: Socket, latencyMs: number, budget: Budget) {
    this.#stream = stream;
    this.#socket = socket;
    this.latencyMs = latencyMs;
    this.#budget = budget;
    // It may have come before this connection listens.
    if (stream.errored) this.tlsAlert = peerAlert(stream.errored);
    this.#detach = this.#attach();
    const left = Math.max(0, budget.deadline - loopClock.now());
    this.#forgetDeadline = loopClock.after(left, () => this.#finish('deadline'));
    this.#forgetAbort = budget.signal.aborted
      ? (this.#finish('closed'), () => undefined)
      : onAbort(budget.signal, () => this.#finish('closed'));
  }

  get exchanges(): Exchange[] {
    return this.#budget.exchanges.map(({ sent, received }) => ({
      sent_b64: Buffer.from(sent).toString('base64'),
      received_b64: Buffer.concat(received).toString('base64'),
    }));
  }

  async read(options: ReadOptions): Promise<{ bytes: Buffer; end: ReadEnd }> {
    let length = this.#inbox.length > 0 ? responseLength(options, this.#inbox.bytes) : 0;
    let end: ReadEnd = 'match';
    if (length === 0) {
      end = this.#end ?? (await this.#receive(options, (matched) => (length = matched)));
      if (end !== 'match') length = this.#inbox.length;
    }
    const bytes = this.#inbox.take(length);
    if (bytes.length > 0) this.#lastExchange().received.push(bytes);
    return { bytes, end };
  }

  write(bytes: Uint8Array, last = false): Promise<boolean> {
    if (this.#end) return Promise.resolve(false);
    this.#budget.exchanges.push({ sent: bytes.subarray(0, maxSentBytes), received: [] });
    return new Promise((resolve) => {
      this.#failWrite = () => resolve(false);
      this.#stream.write(bytes, (error) => {
        this.#failWrite = null;
        resolve(!error && !this.#end);
      });
      if (last) this.#stream.end();
    });
  }

  endAfter(ms: number): void {
    if (this.#end) return;
    this.#budget.deadline = loopClock.now() + ms;
    this.#forgetDeadline();
    this.#forgetDeadline = loopClock.after(ms, () => this.#finish('deadline'));
  }

  async startTls(
    options: TlsOptions,
  ): Promise<{ connection: Connection; tls: TlsObservation } | { reason: string }> {
    const limits = this.#leave(options.handshakeMs);
    if (limits === null) return { reason: 'the connection was closed before the handshake' };
    const outcome = await startTls(this.#socket, { ...options, ...limits });
    if ('reason' in outcome) {
      if (!limits.signal.aborted) this.#budget.onError('tls');
      return outcome;
    }
    const { stream, tls } = outcome;
    return { connection: new SocketConnection(stream, this.#socket, this.latencyMs, this.#budget), tls };
  }

  async examineTls(options: TlsExaminationOptions): Promise<TlsExamination | { reason: string }> {
    const limits = this.#leave(options.handshakeMs);
    if (limits === null) return { reason: 'the connection was closed before the handshake' };
    return examineTls(this.#socket, { ...options, ...limits });
  }

  close(): void {
    this.#finish('closed');
  }

  /** Hands the socket over to a handshake. @returns its limits; null if none are left */
  #leave(handshakeMs = Infinity): { deadline: number; signal: AbortSignal } | null {
    if (this.#end) return null;
    this.#detach();
    this.#release();
    this.#end = 'closed';
    const { deadline, signal } = this.#budget;
    return { deadline: Math.min(deadline, loopClock.now() + handshakeMs), signal };
  }

  #lastExchange(): RawExchange {
    const last = this.#budget.exchanges.at(-1);
    if (last) return last;
    const first = { sent: new Uint8Array(0), received: [] };
    this.#budget.exchanges.push(first);
    return first;
  }

  #attach(): () => void {
    const stream = this.#stream;
    const onData = (chunk: Buffer) => this.#store(chunk);
    const onError = (error: Error) => {
      this.tlsAlert ??= peerAlert(error);
      this.#finish('reset');
    };
    const onEnd = () => {
      // Node.js closes a TLS stream before it emits the alert that ended it.
      if (stream !== this.#socket && stream.destroyed) setImmediate(() => this.#finish('closed'));
      else this.#finish('closed');
    };
    stream.pause();
    stream.on('data', onData);
    stream.pause();
    stream.on('error', onError);
    stream.once('end', onEnd);
    stream.once('close', onEnd);
    // Keep the error listener: a late error must not be uncaught.
    return () => {
      stream.off('data', onData);
      stream.off('end', onEnd);
      stream.off('close', onEnd);
    };
  }

  #store(chunk: Buffer): void {
    if (this.#end) return;
    const taken = chunk.subarray(0, this.#budget.bytesLeft);
    this.#budget.bytesLeft -= taken.length;
    this.#inbox.add(taken);
    this.#lastByteAt = loopClock.now();
    this.truncated = taken.length < chunk.length;
    this.#onBytes?.();
    if (this.truncated) this.#finish('cap');
  }

  /** Lets the socket flow until the response matches or something ends the read. */
  #receive(options: ReadOptions, onMatch: (length: number) => void): Promise<ReadEnd> {
    return new Promise((resolve) => {
      this.#lastByteAt = loopClock.now();
      const settle = (end: ReadEnd) => {
        forgetIdle();
        this.#reader = null;
        this.#onBytes = null;
        this.#stream.pause();
        resolve(end);
      };
      const idleMs = () => (typeof options.idleMs === 'number' ? options.idleMs : options.idleMs());
      let any = false;
      const idleLimitMs = () => (any ? idleMs() : (options.firstMs ?? idleMs()));
      const checkIdle = () => {
        const left = this.#lastByteAt + idleLimitMs() - loopClock.now();
        if (left <= 0) settle('idle');
        else forgetIdle = loopClock.after(left, checkIdle);
      };
      let forgetIdle = loopClock.after(idleLimitMs(), checkIdle);
      this.#reader = settle;
      this.#onBytes = () => {
        any = true;
        const length = responseLength(options, this.#inbox.bytes);
        if (length === 0) return;
        onMatch(length);
        settle('match');
      };
      this.#stream.resume();
    });
  }

  /** Ends the session. */
  #finish(end: ReadEnd): void {
    if (this.#end) return;
    this.#end = end === 'closed' && loopClock.now() >= this.#budget.deadline ? 'deadline' : end;
    if (this.#end === 'reset') this.#budget.onError('reset');
    if (this.#end === 'deadline') this.#budget.onError('timeout');
    this.#detach?.();
    this.#release();
    this.#failWrite?.();
    this.#reader?.(this.#end);
    hangUp(this.#socket, this.#budget.inOrder);
    if (this.#stream !== this.#socket) this.#stream.destroy();
  }

  #release(): void {
    this.#forgetDeadline?.();
    this.#forgetAbort?.();
  }
}

function responseLength(options: ReadOptions, bytes: Buffer): number {
  const response = options.done?.(bytes) ?? false;
  if (response === true) return bytes.length;
  return response === false ? 0 : Math.min(response, bytes.length);
}

/** @param inOrder by a FIN; else by a reset, so that no TIME_WAIT stays behind */
function hangUp(socket: Socket, inOrder: boolean): void {
  if (socket.destroyed) return;
  if (socket.connecting) socket.destroy();
  else if (!inOrder) socket.resetAndDestroy();
  else {
    // Closing with unread bytes would be a reset.
    socket.resume();
    socket.end();
    socket.once(
      'close',
      loopClock.after(lastWordsMs, () => socket.destroy()),
    );
  }
}

/** Unread bytes in one growing block, so that a peer that drips single bytes costs linear time. */
class Inbox {
  #block = Buffer.alloc(0);
  #start = 0;
  #stop = 0;

  get length(): number {
    return this.#stop - this.#start;
  }

  get bytes(): Buffer {
    return this.#block.subarray(this.#start, this.#stop);
  }

  add(chunk: Buffer): void {
    if (this.#stop + chunk.length > this.#block.length) this.#grow(chunk.length);
    chunk.copy(this.#block, this.#stop);
    this.#stop += chunk.length;
  }

  /** Removes the first bytes and returns a copy. */
  take(length: number): Buffer {
    const taken = Buffer.from(this.bytes.subarray(0, length));
    this.#start += taken.length;
    if (this.#start === this.#stop) {
      this.#block = Buffer.alloc(0);
      this.#start = 0;
      this.#stop = 0;
    }
    return taken;
  }

  #grow(more: number): void {
    const waiting = this.bytes;
    const block = Buffer.allocUnsafeSlow(Math.max(512, 2 * waiting.length, waiting.length + more));
    waiting.copy(block);
    this.#block = block;
    this.#stop = waiting.length;
    this.#start = 0;
  }
}
