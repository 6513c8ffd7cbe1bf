/**
 * Between the main thread of a host, which talks to the scan, and the thread that executes a node. The thread blocks while
 * it waits: it reads replies from its port without an event loop.
 */
import type { MessagePort } from 'node:worker_threads';
import type { CallOutcome } from './plugin-struct.ts';

/** From the thread. Those with an `id` get a reply; `append` is not waited for at once. */
export type ThreadCall =
  | { id: number; op: 'next' | 'get'; key: string }
  /** `items`: JSON of each. */
  | { id: number; op: 'append'; key: string; items: string[] }
  | { id: number; op: 'set'; key: string; text: string }
  | { op: 'log'; level: number; message: string }
  /** `failure`: why a call of the thread failed. */
  | { op: 'ended'; outcome: CallOutcome; failure: string | null };

export interface ThreadReply {
  id: number;
  items?: ItemTexts;
  /** Nothing comes under this key. */
  missing?: true;
  error?: string;
}

/** JSON texts one after the other, each with a NUL behind it. */
export interface ItemTexts {
  bytes: ArrayBuffer;
  /** Bytes of each text without its NUL. */
  lengths: number[];
  /** Nothing follows. */
  end: boolean;
}

export interface ThreadSettings {
  port: MessagePort;
  /** Words of shared memory, see `threadControls`. */
  control: Int32Array<SharedArrayBuffer>;
  /** Addresses of functions of the plugin. */
  execute: bigint;
  free: bigint;
  context: string;
  /** Monotonic milliseconds (process.hrtime), or null. */
  deadline: number | null;
}

/** `turn` counts what the main thread has sent; `logs` are log messages that it has not read yet. */
export const threadControls = { turn: 0, canceled: 1, logs: 2 };
export const threadControlWords = 3;

/** More log messages than this are dropped while the main thread is behind. */
export const maxWaitingLogs = 1000;

/** The same for all threads, unlike performance.now(). */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
