import type { RejectionKind } from '../engine/rejection-table.ts';
import type { ConnectShare } from './connect-chunk.ts';

/** Indices of the control words shared by the threads and the controller. */
export const connectControl = {
  /** 1 = threads stop. */
  stop: 0,
  /** Remaining connection attempts. */
  credits: 1,
  /** 1 = more credits were requested and have not arrived. */
  hungry: 2,
  /** Credits at or below which more are requested. */
  lowWater: 3,
  /** Attempts so far. */
  sent: 4,
  /** SYNs repeated by the kernel so far. */
  repeated: 5,
  /** Open sockets. */
  open: 6,
  /** Maximum number of open sockets. */
  most: 7,
  /** 1 = paused. */
  held: 8,
  /** Counts events a thread should handle besides its sockets: chunks, stop, dropped hosts. */
  news: 9,
  /** Parity of the round that first attempts belong to now. */
  parity: 10,
  /** First attempts so far, of even rounds; those of odd ones follow. */
  firstSent: 11,
  /** Responses to them, the same way. */
  firstResponses: 13,
  /** Longest time until a response to them since the controller has read it, milliseconds; -1 = none. */
  roundTrip: 15,
} as const;
export const connectControlWords = 16;

export interface ConnectThreadStart {
  control: SharedArrayBuffer;
  /** An eventfd (eventfd(2)) that wakes this thread. */
  waker: number;
}

export type ToConnector = { type: 'chunk'; share: ConnectShare };

export type FromConnector =
  | { type: 'ready' }
  | { type: 'hungry' }
  /** Each endpoint once, with its `verdict`, possibly with `lateFlag`. */
  | {
      type: 'settled';
      id: number;
      endpoints: Uint32Array;
      verdicts: Uint8Array;
      /** Of rejected endpoints. */
      rejections: ReadonlyMap<number, RejectionKind>;
    }
  /** Hosts, by index, that responded slowly. */
  | { type: 'slow'; id: number; hosts: number[] }
  /** Why so many attempts could not be sent: an errno name. */
  | { type: 'trouble'; reason: string; count: number }
  /** This thread has finished the chunk. */
  | { type: 'done'; id: number };
