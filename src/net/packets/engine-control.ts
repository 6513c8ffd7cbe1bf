import type { ChunkPlan, ChunkState } from './chunk.ts';
import type { CookieKey } from './cookie.ts';

/** Places in the control words that all threads of the engine and its process share. */
export const control = {
  /** 1 = the threads end. */
  stop: 0,
  /** Packets that may still be sent. */
  credits: 1,
  /** Counts whatever the sending threads should look at: credits, chunks, an end. */
  wake: 2,
  /** Longest round trip that was seen, milliseconds; -1 before the first answer. */
  roundTrip: 3,
  /** 1 = more credits were asked for and have not come. */
  hungry: 4,
  /** Credits at or below which more are asked for. */
  lowWater: 5,
  /** Packets sent so far. */
  sent: 6,
} as const;
export const controlWords = 8;

export interface ThreadStart {
  control: SharedArrayBuffer;
  key: CookieKey;
  /** Source port of all probes. */
  ownPort: number;
}

/** A chunk as the threads get it. */
export interface ChunkMessage {
  type: 'chunk';
  plan: ChunkPlan;
  memory: SharedArrayBuffer;
}

export type ToSender = ChunkMessage;

export type FromSender =
  | { type: 'hungry' }
  /** Nothing more will be sent for the chunk, and its waits are over. */
  | { type: 'done'; id: number }
  | { type: 'failed'; id: number; reason: string };

export type ToReceiver =
  | ChunkMessage
  /** Everything about the chunk that was heard is wanted; `last`: it is over. */
  | { type: 'state'; id: number; last: boolean }
  | { type: 'figures' };

export type FromReceiver =
  | { type: 'listening' }
  /** Answers for the chunk are understood from now on. */
  | { type: 'added'; id: number }
  | { type: 'failed'; reason: string }
  /** Endpoints of a chunk that are open. */
  | { type: 'open'; id: number; endpoints: Uint32Array }
  | { type: 'state'; id: number; last: boolean; state: ChunkState }
  | { type: 'figures'; figures: ReceiverCounters };

/** Packets that were read, each one in one of these. */
export interface ResponseCounts {
  /** Answers to probes. */
  valid: number;
  /** Further answers of endpoints that were settled before. */
  repeated: number;
  /** No answer to anything that is asked: forged, cut off, too late, or meant for others on this machine. */
  foreign: number;
}

/** What the kernel and the hearing thread counted since the engine began. */
export interface ReceiverCounters extends ResponseCounts {
  /** Packets that passed the filter. */
  received: number;
  /** Of these, packets that found no room in the ring. */
  dropped: number;
}

/** Work for the process of the engine. */
export type ToEngine =
  | { type: 'chunk'; plan: ChunkPlan }
  | { type: 'credits'; count: number; lowWater: number }
  /** Nothing more is sent to these hosts, by their numbers in the chunk. */
  | { type: 'drop'; id: number; hosts: number[] }
  | { type: 'stop'; id: number };

export type FromEngine =
  | { type: 'ready' }
  | { type: 'broken'; reason: string }
  | { type: 'hungry' }
  | { type: 'open'; id: number; endpoints: Uint32Array }
  | { type: 'state'; id: number; state: ChunkState }
  | { type: 'done'; id: number; state: ChunkState; failure: string | null }
  | { type: 'figures'; figures: ReceiverCounters & { sent: number } };
