/**
 * Messages on the pipe between a scan and a plugin host, each the JSON of one frame (sandbox/frames.ts). The scan sends
 * requests with an `id`, the host responds. While a node executes, the host sends calls with a `call` number, which
 * the scan responds to. Items flow when the host asks for them, so a slow plugin slows its producers.
 */
import type { PluginMetadata } from '../plugin.ts';

/** Most items of one batch, and how long the first item of a batch waits for others, milliseconds. */
export const batchItems = 128;
export const batchMs = 20;

/** Kinds that run in a host. */
export type HostedKind = 'native' | 'script' | 'wasm';

/** From the scan to the host; `output` is the most bytes of a frame from the host. */
export type HostRequest =
  | { id: number; op: 'load'; kind: HostedKind; file: string; config?: string; output: number }
  /** Once per host, after `load`. */
  | { id: number; op: 'initialize' }
  /** Once per node. */
  | { id: number; op: 'configure'; node: string; options: Record<string, unknown> }
  /** Resolves when the node has ended. */
  | { id: number; op: 'execute'; node: string; context: NodeContext }
  /** Once per host, before it ends. */
  | { id: number; op: 'cleanup' }
  /** No response: the node should end soon. */
  | { op: 'cancel'; node: string };

export interface NodeContext {
  scan_id: string;
  instance_id: string;
  /** Milliseconds left when the message was sent; null = no deadline. */
  deadline_ms: number | null;
  /** Keys that can be read. */
  keys: string[];
  /** Addresses of the scan may be reached through the gate. */
  network: boolean;
}

export type HostResponse = { id: number; value?: unknown } | { id: number; error: string };

/** Value of the response to `load`. */
export interface LoadedValue {
  metadata: PluginMetadata;
}

/** From the host to the scan, while a node executes. */
export type HostCall =
  /**
   * The next items of a key: at most `batchItems`, none and `end` after the last one. `complete`: of its complete value,
   * merged, instead of the stream.
   */
  | { call: number; op: 'pull'; node: string; key: string; complete: boolean }
  /** Resolves when every reader has room again. */
  | { call: number; op: 'append'; node: string; key: string; items: unknown[] }
  /** Writes one value and ends the key. */
  | { call: number; op: 'set'; node: string; key: string; value: unknown }
  | { call: number; op: 'net'; node: string; request: NetRequest };

/** No response. */
export type HostNotice =
  | { op: 'log'; node: string; level: 'debug' | 'info' | 'warn' | 'error'; message: string }
  | { op: 'progress'; node: string; done: number; total?: number }
  | { op: 'warn'; node: string; code: string; message: string; target?: string };

/** Value of the response to `pull`. */
export interface PulledItems {
  items: unknown[];
  end: boolean;
  /** The key holds one value that is no list, written by `set`: `items` has only it. */
  single?: boolean;
}

/** `missing`: nothing comes under the key. `canceled`: the node is to end. */
export type CallRejectionReason = 'missing' | 'canceled' | 'invalid';

/** What the scan responds. Bytes travel beside the JSON. */
export type CallResult =
  | { call: number; value?: unknown }
  | { call: number; error: string; reason: CallRejectionReason };

/** Through the gate of the scan; `connection` is a number that `connect` returned. Bytes to send stand beside the JSON. */
export type NetRequest =
  | { method: 'connect'; host: string; port: number; deadline_ms: number; connect_ms?: number }
  | { method: 'write'; connection: number; last?: boolean }
  /**
   * Responds with bytes and `{end}`; reads until idle, `until` was seen, or `length` bytes came. `some`: until any came, at
   * most `length`.
   */
  | {
      method: 'read';
      connection: number;
      idle_ms: number;
      length?: number;
      until_b64?: string;
      some?: boolean;
    }
  | { method: 'startTls'; connection: number; server_name: string | null; alpn: string[] }
  | { method: 'close'; connection: number }
  | { method: 'askUdp'; host: string; port: number; timeout_ms: number; retries: number };
