import type { HostWire } from '../hosted-plugin.ts';
import { WasmFault } from './wasm-memory.ts';

/** A session as a whole, a connection attempt, and the wait for a response, milliseconds. */
const sessionMs = 15_000;
const connectMs = 3_000;
const idleMs = 3_000;
/** Of one write or read; the module repeats it for the rest. */
const transferBytes = 64 * 1024;
/** Connections of one instance at the same time. */
const maxConnections = 16;

/** Results of the calls. */
const failed = -1;
const notSent = -2;

interface Granted {
  network: boolean;
  wire: Pick<HostWire, 'net'>;
}

/** The connections of one instance, through the gate of the scan. */
export class WasmConnections {
  readonly #granted: Granted;
  readonly #open = new Set<number>();

  constructor(granted: Granted) {
    this.#granted = granted;
  }

  /** The connection; -1 if there is none, -2 if nothing was sent: the address is none of the scan. */
  async connect(host: string, port: number): Promise<number> {
    if (!this.#granted.network) {
      throw new WasmFault(
        'this plugin may not use the network: its manifest does not list the permission "network"',
      );
    }
    if (this.#open.size >= maxConnections) {
      throw new WasmFault(`connect: more than ${maxConnections} open connections`);
    }
    const request = { method: 'connect', host, port, deadline_ms: sessionMs, connect_ms: connectMs } as const;
    const { value } = await this.#granted.wire.net(request);
    const result = value as { connection: number } | { failure: { state: string } };
    if ('failure' in result) return result.failure.state === 'not_tried' ? notSent : failed;
    this.#open.add(result.connection);
    return result.connection;
  }

  /** Number of bytes, or -1. */
  async write(connection: number, bytes: Uint8Array): Promise<number> {
    if (!this.#open.has(connection)) return failed;
    const copy = Buffer.from(bytes.subarray(0, transferBytes));
    const { value } = await this.#granted.wire.net({ method: 'write', connection }, copy);
    return value === true ? copy.length : failed;
  }

  /** What has arrived, at most `room` bytes; 0 at the end, -1 after a reset or where nothing arrived in time. */
  async read(connection: number, room: number): Promise<Buffer | number> {
    if (!this.#open.has(connection)) return failed;
    if (room === 0) return 0;
    const length = Math.min(room, transferBytes);
    const request = { method: 'read', connection, idle_ms: idleMs, length, some: true } as const;
    const { value, bytes } = await this.#granted.wire.net(request);
    if (bytes.length > 0) return bytes.subarray(0, room);
    const { end } = value as { end: string };
    return end === 'closed' || end === 'cap' ? 0 : failed;
  }

  async close(connection: number): Promise<number> {
    if (!this.#open.delete(connection)) return failed;
    await this.#granted.wire.net({ method: 'close', connection });
    return 0;
  }

  /** Errors do not matter any more: the scan closes what a node leaves. */
  async closeAll(): Promise<void> {
    await Promise.allSettled([...this.#open].map((connection) => this.close(connection)));
  }
}
