import type { PauseGate } from '../net/gate/pause-gate.ts';
import type { Node } from './node.ts';

/** Grace period after the abort of a module before it is abandoned, milliseconds. */
const abandonAfterMs = 2000;

export interface WatchOptions {
  /** Also abort the node; the reason is passed on. */
  signals: AbortSignal[];
  /** 0 = no limit. */
  stallTimeoutMs: number;
  /** While it is paused, the node's clocks stand still. */
  hold: PauseGate;
}

export interface NodeWatch {
  /** Aborted on cancel, at the node's deadline and when it stalls. */
  signal: AbortSignal;
  /** Ends the node as failed. */
  fail(reason: unknown): void;
  stop(): void;
}

/** Supervises one execution of a node. An abort also ends pending reads of the module. */
export function watchNode(node: Node, { signals, stallTimeoutMs, hold }: WatchOptions): NodeWatch {
  const abort = new AbortController();
  const timers: (() => void)[] = [];
  const end = (reason: unknown) => {
    abort.abort(reason);
    node.failInputs(reason);
  };
  const listeners = signals.map((signal) => ({ signal, listener: () => end(signal.reason) }));
  for (const { signal, listener } of listeners) {
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener);
  }
  const { timeoutMs } = node.planned;
  if (timeoutMs !== null) {
    timers.push(
      hold.after(timeoutMs, () => end(new Error(`ran longer than its timeout of ${timeoutMs} ms`))),
    );
  }
  if (stallTimeoutMs > 0) {
    node.alive();
    const check = () => {
      if (hold.held) return node.alive();
      const stalls = node.waiting === 0 && node.silentMs >= stallTimeoutMs;
      if (stalls) end(new Error(`made no progress for ${stallTimeoutMs} ms`));
    };
    const checks = setInterval(check, Math.max(50, stallTimeoutMs / 10));
    const forget = hold.onChange(() => node.alive());
    timers.push(() => clearInterval(checks), forget);
  }
  return {
    signal: abort.signal,
    fail: end,
    stop: () => {
      for (const stopTimer of timers) stopTimer();
      for (const { signal, listener } of listeners) signal.removeEventListener('abort', listener);
    },
  };
}

/**
 * Runs the work; after an abort, gives it a grace period and then abandons it.
 * @param onAbandon called when the work is abandoned: it may run on
 * @throws the error of the work, else the reason of the abort
 */
export async function abortSignalled(
  signal: AbortSignal,
  work: () => Promise<void>,
  onAbandon: () => void = () => undefined,
): Promise<void> {
  signal.throwIfAborted();
  const working = work();
  working.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const abandoned = new Promise<never>((_, reject) => {
    onAbort = () => {
      timer = setTimeout(() => {
        onAbandon();
        reject(signal.reason);
      }, abandonAfterMs);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  abandoned.catch(() => {});
  try {
    await Promise.race([working, abandoned]);
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', onAbort);
    clearTimeout(timer);
  }
}
