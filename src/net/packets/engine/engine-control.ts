import type { Round, Usual } from '../../adaptive/rate.ts';
import type { CookieKey } from '../frame/cookie.ts';
import type { ChunkPlan, ChunkState } from './chunk.ts';

/** Indices of the control words shared by all threads of the engine and its process. */
export const control = {
  /** 1 = threads stop. */
  stop: 0,
  /** Packets that may still be sent. */
  credits: 1,
  /** Counts events for the sender threads: credits, chunks, stop. */
  wake: 2,
  /** Longest observed round trip, milliseconds; -1 before the first response. */
  roundTrip: 3,
  /** 1 = more credits were requested and have not arrived. */
  hungry: 4,
  /** Credits at or below which more are requested. */
  lowWater: 5,
  /** Packets sent so far. */
  sent: 6,
  /** Of these, retries. */
  retransmitted: 7,
  /** Of the current round of all chunks whose rates adapt. */
  parity: 8,
  /** How often the interface took no more packets. */
  crowded: 9,
} as const;
export const controlWords = 10;

export interface ThreadStart {
  control: SharedArrayBuffer;
  key: CookieKey;
  /** Source port of all probes. */
  ownPort: number;
}

/** A chunk as sent to the threads. */
export interface ChunkMessage {
  type: 'chunk';
  plan: ChunkPlan;
  memory: SharedArrayBuffer;
}

export type ToSender = ChunkMessage;

export type FromSender =
  | { type: 'hungry' }
  /** Nothing more will be sent for the chunk, and its timeouts are over. */
  | { type: 'done'; id: number; unsent: UnsentProbes }
  | { type: 'failed'; id: number; reason: string; unsent: UnsentProbes };

/** Probes that this machine could not send, by errno name. */
export type UnsentProbes = ReadonlyMap<string, number>;

export type ToReceiver =
  | ChunkMessage
  /** Requests the state of the chunk; `last`: it has ended. */
  | { type: 'state'; id: number; last: boolean }
  | { type: 'figures' };

export type FromReceiver =
  | { type: 'listening' }
  /** The receiver accepts responses for the chunk from now on. */
  | { type: 'added'; id: number }
  | { type: 'failed'; reason: string }
  /** Open endpoints of a chunk. */
  | { type: 'open'; id: number; endpoints: Uint32Array }
  | { type: 'state'; id: number; last: boolean; state: ChunkState }
  | { type: 'figures'; figures: ReceiverCounters };

/** Received packets, each in exactly one class. */
export interface ResponseCounts {
  /** Responses to probes. */
  valid: number;
  /** Further responses of complete endpoints. */
  repeated: number;
  /** Not a response to a probe: forged, truncated, too late, or meant for others on this machine. */
  foreign: number;
}

/** Counters of the kernel and the receiver since the start of the engine. */
export interface ReceiverCounters extends ResponseCounts {
  /** Packets that passed the filter. */
  received: number;
  /** Of these, packets that did not fit into the ring. */
  dropped: number;
}

/** Counters since the start of the engine. */
export type EngineCounters = ReceiverCounters & { sent: number; retransmitted: number; crowded: number };

/** Messages to the engine process. */
export type ToEngine =
  | { type: 'chunk'; plan: ChunkPlan }
  /** Maximum number of sender threads; one until then. */
  | { type: 'senders'; most: number }
  | { type: 'credits'; count: number; lowWater: number }
  /** Stops sending to these hosts, by index in the chunk. */
  | { type: 'drop'; id: number; hosts: number[] }
  /** What is known of the responses to all probes of adaptive chunks; null = nothing. */
  | { type: 'usual'; usual: Usual | null }
  | { type: 'stop'; id: number };

/** A round of all chunks whose rates adapt. */
export interface EngineRound extends Omit<Round, 'usual' | 'beganAt'> {
  /** Time since its begin, milliseconds. */
  ageMs: number;
  /** Other endpoints than in the rounds before: what was usual is not any more. */
  isNew: boolean;
}

/** How a host was slowed. */
export interface SlowedHost {
  /** Index in the chunk. */
  host: number;
  /** Packets per second at which responses stayed away, and the lowest rate after that. */
  shortAt: number;
  lowest: number;
}

export type FromEngine =
  | { type: 'ready' }
  | { type: 'broken'; reason: string }
  | { type: 'hungry' }
  | { type: 'open'; id: number; endpoints: Uint32Array }
  | { type: 'state'; id: number; state: ChunkState }
  | { type: 'done'; id: number; end: ChunkEnd }
  | { type: 'round'; round: EngineRound }
  /** The leading ports of a chunk have been probed. */
  | { type: 'pastHead' }
  /** Once for each host of a chunk; how slow it became stands in `done`. */
  | { type: 'slowed'; id: number; host: SlowedHost }
  | { type: 'figures'; figures: EngineCounters };

/** How a chunk ended. */
export interface ChunkEnd {
  state: ChunkState;
  /** Why it ended early, or null. */
  failure: string | null;
  /** Of a chunk whose rates adapt. */
  learned: LearnedRates | null;
  /** Since the engine started the chunk. */
  unsent: UnsentProbes;
}

/** What was learned of the hosts of a chunk. */
export interface LearnedRates {
  /** Last packets per second of each host. */
  rates: Uint32Array;
  slowed: SlowedHost[];
}
