import type { ConnectShare } from './connect-chunk.ts';

/** Places in the control words that the threads and whoever ordered the work share. */
export const connectControl = {
  /** 1 = the threads end. */
  stop: 0,
  /** Connections that may still be attempted. */
  credits: 1,
  /** 1 = more credits were asked for and have not come. */
  hungry: 2,
  /** Credits at or below which more are asked for. */
  lowWater: 3,
  /** Attempts so far. */
  sent: 4,
  /** SYNs that the kernel repeated so far. */
  repeated: 5,
  /** Sockets that are open now. */
  open: 6,
  /** Most sockets that may be open. */
  most: 7,
  /** 1 = nothing may be sent now. */
  held: 8,
  /** Counts what a thread should look at beside its sockets: chunks, an end, hosts that are dropped. */
  news: 9,
} as const;
export const connectControlWords = 16;

export interface ConnectThreadStart {
  control: SharedArrayBuffer;
  /** An eventfd (eventfd(2)) that ends this thread's wait. */
  waker: number;
}

export type ToConnector = { type: 'chunk'; share: ConnectShare };

export type FromConnector =
  | { type: 'ready' }
  | { type: 'hungry' }
  /** Each endpoint once, with its `verdict`, perhaps with `lateFlag`. */
  | { type: 'settled'; id: number; endpoints: Uint32Array; verdicts: Uint8Array }
  /** Hosts, by their numbers, that were seen to answer late. */
  | { type: 'slow'; id: number; hosts: number[] }
  /** What kept so many attempts from leaving this machine: the name of an errno. */
  | { type: 'trouble'; reason: string; count: number }
  /** This thread has nothing left of the chunk. */
  | { type: 'done'; id: number };
