import { Socket, type SocketConstructorOpts } from 'node:net';
import type { ProbeRejection } from '../../domain/host.ts';
import { addressText } from '../../domain/targets/address.ts';
import { onAbort, pause } from '../abort.ts';
import type { SocketEgress } from '../egress.ts';
import { errorCode, isShortage, localTrouble, notTried, observeFailure } from '../failure.ts';
import type { PortObservation } from '../gate/gate.ts';
import type { PauseGate } from '../gate/pause-gate.ts';
import { icmpMeaning } from '../icmp/icmp-meaning.ts';
import { loopClock } from '../loop-clock.ts';
import { boundSocket } from '../packets/linux/bind-socket.ts';
import type { QueuedError } from '../packets/linux/error-queue.ts';
import { explainedSocket } from '../packets/linux/explained-socket.ts';

/**
 * A shortage of this machine (file handles, source ports) is waited out this long; then the port counts as not tried.
 */
const shortageGiveUpMs = 5000;

/** What this machine lacks without a success since: whoever attempts later does not wait as long again. */
let shortage: { since: number; seenAt: number } | null = null;

/** @returns for how long it has lasted, milliseconds */
function noteShortage(): number {
  const now = loopClock.now();
  const isOver = shortage === null || now - shortage.seenAt > shortageGiveUpMs;
  shortage = { since: isOver ? now : (shortage?.since ?? now), seenAt: now };
  return now - shortage.since;
}

/** Retries after a self-connection; each time the kernel picks another source port. */
const selfConnectionTries = 3;

/**
 * Timeout of one SYN. Linux repeats a SYN after 1 s and then each second (tcp_syn_linear_timeouts; RFC 6298 section
 * 2), invisible to the rate limiter; an attempt that ends earlier costs exactly one packet.
 */
export const synTimeoutMs = 900;

/** Time between a SYN and its repetition by the kernel. */
const kernelRepeatMs = 1000;

type Attempt = { socket: Socket; latencyMs: number } | { failure: PortObservation };

export interface AttemptOptions {
  /** What the socket is bound to; null = nothing. */
  egress: SocketEgress | null;
  /** Timeout of the whole attempt. */
  timeoutMs: number;
  /** Timeout of one SYN; further ones follow while the attempt lasts. */
  synMs: number;
  signal: AbortSignal;
  /** Size of the read buffer of the socket. */
  readAhead?: number;
  /** Called for every further SYN of this attempt; false = do not send it. */
  again(): Promise<boolean>;
  /** Called for every SYN that the kernel repeats itself. */
  onRepeat(): void;
  /** While it is closed nothing is sent; the time does not count. */
  door: PauseGate;
  /** Also read the ICMP error that ends it. */
  explains?: boolean;
}

/** Result of one connect(): a socket, an observation, the errno name of a local shortage, or a pause in between. */
type Outcome = { socket: Socket; latencyMs: number } | { failure: PortObservation | string } | 'held';

/** Connects to an address (never a name). The socket arrives paused; the caller destroys it. */
export async function attempt(host: string, port: number, options: AttemptOptions): Promise<Attempt> {
  const { door, signal } = options;
  let until = loopClock.now() + options.timeoutMs;
  const giveUpAt = loopClock.now() + shortageGiveUpMs;
  let selfConnections = 0;
  for (let wait = 5; ; wait = Math.min(wait * 2, 200)) {
    const outcome = door.held ? 'held' : await attemptOnce(host, port, options);
    if (outcome !== 'held' && !('failure' in outcome && typeof outcome.failure === 'string')) shortage = null;
    if (outcome === 'held') {
      if (!(await door.released(signal)) || !(await options.again()))
        return { failure: notTried('canceled') };
      until = loopClock.now() + options.timeoutMs;
    } else if ('socket' in outcome) {
      if (!connectedToItself(outcome.socket)) return outcome;
      outcome.socket.resetAndDestroy();
      selfConnections += 1;
      // The port belongs to this socket, so it has no listener.
      if (selfConnections === selfConnectionTries) {
        return { failure: { state: 'closed', reason: 'self-connection', latencyMs: outcome.latencyMs } };
      }
      if (!(await options.again())) return { failure: notTried('canceled') };
    } else if (typeof outcome.failure !== 'string') {
      const silent = outcome.failure.reason === 'no-response';
      if (!silent || loopClock.now() + options.synMs > until) return { failure: outcome.failure };
      if (!(await options.again())) return { failure: outcome.failure };
    } else {
      // Nothing was sent yet, so the next try needs no further token.
      if (noteShortage() > shortageGiveUpMs || loopClock.now() > giveUpAt)
        return { failure: notTried(localTrouble(outcome.failure)) };
      await pause(wait, options.signal);
    }
    if (options.signal.aborted) return { failure: notTried('canceled') };
  }
}

/** One connect(). A pause ends it only if the kernel would otherwise send a further SYN. */
function attemptOnce(host: string, port: number, options: AttemptOptions): Promise<Outcome> {
  return new Promise((resolve) => {
    if (options.signal.aborted) return resolve({ failure: notTried('canceled') });
    const started = loopClock.now();
    const opened = openSocket(host, options);
    if ('failure' in opened) return resolve(opened);
    const { socket, rejection } = opened;
    let settled = false;
    const settle = (outcome: Outcome) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      clearImmediate(lastLook);
      clearInterval(repeats);
      forget();
      forgetDoor();
      resolve(outcome);
    };
    let localRefusal = false;
    const giveUp = (failure: PortObservation) => {
      socket.destroy();
      settle({ failure });
    };
    let lastLook: NodeJS.Immediate | undefined;
    const onSilence = () =>
      giveUp({ state: 'filtered', reason: 'no-response', latencyMs: loopClock.now() - started });
    // In a turn of the event loop, timers run before the sockets: read a response that arrived during a stall first.
    const timer = setTimeout(() => {
      lastLook = setImmediate(onSilence);
    }, options.synMs);
    const repeated = options.synMs >= kernelRepeatMs;
    const repeats = repeated ? setInterval(options.onRepeat, kernelRepeatMs) : undefined;
    const onHold = () => {
      socket.destroy();
      settle('held');
    };
    const forgetDoor = repeated ? options.door.onChange(onHold) : () => undefined;
    const forget = onAbort(options.signal, () => giveUp(notTried('canceled')));
    // Stays for the life of the socket: a late error must never be uncaught.
    socket.on('error', (error) => {
      const code = errorCode(error);
      if (localRefusal) settle({ failure: isShortage(code) ? code : notTried(localTrouble(code)) });
      else if (isShortage(code)) settle({ failure: code });
      else settle({ failure: explained(observeFailure(code, loopClock.now() - started), rejection?.()) });
    });
    socket.once('connect', () => {
      const error = rejection?.() ?? null;
      const latencyMs = loopClock.now() - started;
      if (settled) socket.resetAndDestroy();
      // A queued error wakes libuv, which takes an attempt without an errno for a connection.
      else if (error) giveUp({ state: 'filtered', reason: error.reason, latencyMs, rejection: error });
      else settle({ socket, latencyMs });
    });
    socket.pause();
    socket.connect({ host, port });
    // Node calls connect() in the next tick. An immediate failure is local, without a packet: no route, link down.
    process.nextTick(() => {
      localRefusal = socket.destroyed;
    });
  });
}

/** The observation with the ICMP error behind it, if it was one. */
function explained(observation: PortObservation, rejection: ProbeRejection | null = null): PortObservation {
  if (rejection === null || observation.state !== 'filtered') return observation;
  return { ...observation, reason: rejection.reason, rejection };
}

interface OpenedSocket {
  socket: Socket;
  /** The ICMP error that ended it. */
  rejection?: () => ProbeRejection | null;
}

function openSocket(
  host: string,
  { readAhead, egress, explains }: Pick<AttemptOptions, 'readAhead' | 'egress' | 'explains'>,
): OpenedSocket | { failure: PortObservation | string } {
  // Node passes the stream option on, although its type does not have it.
  const streamOptions = readAhead ? { highWaterMark: readAhead } : {};
  try {
    const asked = explains ? explainedAttempt(host, egress) : null;
    if (asked) return asked;
    const fd = egress === null ? {} : { fd: boundSocket('stream', egress), manualStart: true };
    return { socket: new Socket({ ...streamOptions, ...fd } as SocketConstructorOpts) };
  } catch (error) {
    const code = errorCode(error);
    return { failure: isShortage(code) ? code : notTried(localTrouble(code)) };
  }
}

/** Null where the kernel tells no more than an errno. */
function explainedAttempt(host: string, egress: SocketEgress | null): OpenedSocket | null {
  const family = host.includes(':') ? 6 : 4;
  const asked = explainedSocket(family, egress);
  if (asked === null) return null;
  const socket = new Socket({ fd: asked.fd, manualStart: true } as SocketConstructorOpts);
  let error: QueuedError | null = null;
  let isClosed = false;
  // The last moment before Node closes the descriptor.
  socket._destroy = (...args) => {
    error ??= asked.error();
    isClosed = true;
    Socket.prototype._destroy.apply(socket, args);
  };
  const rejection = () => {
    if (!isClosed) error ??= asked.error();
    if (error === null) return null;
    const { type, code, from } = error;
    const reason = icmpMeaning(family, error) ?? 'unreachable';
    return { reason, icmp: { type, code }, from: from && addressText(from) };
  };
  return { socket, rejection };
}

/** TCP's simultaneous open lets a socket connect to itself when source and target port coincide on this machine. */
function connectedToItself(socket: Socket): boolean {
  return socket.localPort === socket.remotePort && socket.localAddress === socket.remoteAddress;
}
