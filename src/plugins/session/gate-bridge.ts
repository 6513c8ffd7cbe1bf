import { type Address, parseAddress } from '../../domain/targets/address.ts';
import type { Connection, NetworkGate } from '../../net/gate/gate.ts';
import type { NetRequest } from '../host/messages.ts';
import type { BusyClock } from './busy-clock.ts';

/** Bytes that a connection may receive, and that one write may send. */
const maxBytes = 1024 ** 2;
/** Open connections of one node. */
const maxConnections = 512;
/** Longest connection of a plugin, milliseconds. */
const maxSessionMs = 300_000;
/** Longest idle timeout that a plugin sets, milliseconds. */
const maxIdleMs = 60_000;
/** Longest timeout of a UDP request that a plugin sets, milliseconds. */
const maxUdpMs = 60_000;
/** Retries of a UDP request. */
const maxRetries = 5;
/** Bytes of a datagram; larger ones would be fragmented. */
const maxDatagram = 1232;
/** Bytes that end a response. */
const maxUntil = 1024;
/** Protocols that a plugin offers in ALPN. */
const maxProtocols = 8;
const namePattern = /^[A-Za-z0-9._-]{1,253}$/;
const protocolPattern = /^[\x21-\x7e]{1,64}$/;

interface OpenConnection {
  connection: Connection;
  reading: boolean;
}

interface NetResult {
  value?: unknown;
  bytes?: Buffer;
}

/** The gate of the scan for one node of a plugin, which has no sockets. Requests are hostile. */
export class GateBridge {
  readonly #gate: NetworkGate;
  readonly #signal: AbortSignal;
  readonly #clock: BusyClock;
  readonly #open = new Map<number, OpenConnection>();
  readonly #onOutside: (host: string) => void;
  #connecting = 0;
  #last = 0;

  /**
   * @param signal of the node
   * @param onOutside called for a host that the scan may not reach; nothing is sent to it
   */
  constructor(
    gate: NetworkGate,
    signal: AbortSignal,
    clock: BusyClock,
    onOutside: (host: string) => void = () => {},
  ) {
    this.#gate = gate;
    this.#onOutside = onOutside;
    this.#signal = signal;
    this.#clock = clock;
  }

  /** @throws Error that says what is wrong with the request; never because of the target */
  async perform(request: NetRequest, bytes: Buffer): Promise<NetResult> {
    switch (request.method) {
      case 'connect':
        return await this.#connect(request);
      case 'write':
        return await this.#write(request, bytes);
      case 'read':
        return await this.#read(request);
      case 'startTls':
        return await this.#startTls(request);
      case 'close':
        return this.#close(request);
      case 'askUdp':
        return await this.#askUdp(request, bytes);
      default:
        throw new Error('no such request to the network');
    }
  }

  /** Closes what is open. */
  close(): void {
    for (const { connection } of this.#open.values()) connection.close();
    this.#open.clear();
  }

  async #connect(request: Extract<NetRequest, { method: 'connect' }>): Promise<NetResult> {
    const { host, port } = endpointOf(request);
    const deadlineMs = bounded(request.deadline_ms, 'deadline_ms', 1, maxSessionMs);
    const connectMs = bounded(request.connect_ms ?? deadlineMs, 'connect_ms', 1, deadlineMs);
    if (this.#open.size + this.#connecting >= maxConnections) {
      return { value: { failure: { state: 'not_tried', reason: 'too_many_connections', latency_ms: 0 } } };
    }
    this.#connecting += 1;
    try {
      const options = { deadlineMs, connectMs, maxBytes, signal: this.#signal };
      const result = await this.#clock.countUpTo(connectMs, () =>
        this.#gate.throughPauses(() => this.#gate.connect(host, port, options), this.#signal),
      );
      if ('failure' in result) {
        const { state, reason, latencyMs } = result.failure;
        if (reason === 'out_of_scope') this.#onOutside(host);
        return { value: { failure: { state, reason, latency_ms: latencyMs } } };
      }
      const { connection } = result;
      if (this.#signal.aborted) connection.close();
      this.#last += 1;
      this.#open.set(this.#last, { connection, reading: false });
      return { value: { connection: this.#last, latency_ms: connection.latencyMs } };
    } finally {
      this.#connecting -= 1;
    }
  }

  async #write(request: Extract<NetRequest, { method: 'write' }>, bytes: Buffer): Promise<NetResult> {
    const { connection } = this.#connectionOf(request);
    if (bytes.length > maxBytes)
      throw new Error(`a write of ${bytes.length} bytes, above the limit of ${maxBytes}`);
    return { value: await connection.write(bytes, request.last === true) };
  }

  async #read(request: Extract<NetRequest, { method: 'read' }>): Promise<NetResult> {
    const open = this.#connectionOf(request);
    const { connection } = open;
    const idleMs = bounded(request.idle_ms, 'idle_ms', 1, maxIdleMs);
    const done = completeness(request);
    if (open.reading) throw new Error('two reads of one connection at a time');
    open.reading = true;
    try {
      const { bytes, end } = await connection.read({ idleMs, ...(done && { done }) });
      return { value: { end, truncated: connection.truncated }, bytes };
    } finally {
      open.reading = false;
    }
  }

  async #startTls(request: Extract<NetRequest, { method: 'startTls' }>): Promise<NetResult> {
    const open = this.#connectionOf(request);
    const { server_name, alpn } = request;
    if (server_name !== null && !isText(server_name, namePattern))
      throw new Error('server_name is no host name');
    const isList = Array.isArray(alpn) && alpn.length <= maxProtocols;
    if (!isList || !alpn.every((name) => isText(name, protocolPattern)))
      throw new Error('alpn is no list of protocols');
    const result = await open.connection.startTls({ serverName: server_name, alpn });
    if ('reason' in result) return { value: { reason: result.reason } };
    open.connection = result.connection;
    return { value: { tls: result.tls } };
  }

  #close(request: Extract<NetRequest, { method: 'close' }>): NetResult {
    this.#open.get(request.connection)?.connection.close();
    this.#open.delete(request.connection);
    return {};
  }

  async #askUdp(request: Extract<NetRequest, { method: 'askUdp' }>, bytes: Buffer): Promise<NetResult> {
    const { host, port } = endpointOf(request);
    const timeoutMs = bounded(request.timeout_ms, 'timeout_ms', 1, maxUdpMs);
    const retries = bounded(request.retries, 'retries', 0, maxRetries);
    if (bytes.length > maxDatagram)
      throw new Error(`a datagram of ${bytes.length} bytes, above ${maxDatagram}`);
    if (!this.#gate.addresses.hasAddress(parseAddress(host) as Address)) this.#onOutside(host);
    const options = { timeoutMs, retries, signal: this.#signal, looksLike: () => true };
    const response = await this.#clock.countUpTo(timeoutMs, () =>
      this.#gate.throughPauses(() => this.#gate.askUdp(host, port, bytes, options), this.#signal),
    );
    return response === null ? { value: null } : { value: true, bytes: response };
  }

  #connectionOf({ connection }: { connection: number }): OpenConnection {
    const open = this.#open.get(connection);
    if (!open) throw new Error('no such connection');
    return open;
  }
}

/** Names would be resolved outside of the gate. */
function endpointOf({ host, port }: { host: string; port: number }): { host: string; port: number } {
  if (typeof host !== 'string' || parseAddress(host) === null) throw new Error('host is no IP address');
  return { host, port: bounded(port, 'port', 1, 65_535) };
}

function bounded(value: number, name: string, min: number, max: number): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new Error(`${name} is no whole number from ${min} to ${max}`);
}

function isText(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}

/** When a response is complete, if the plugin says so. */
function completeness({
  length,
  until_b64,
  some,
}: Extract<NetRequest, { method: 'read' }>): ((bytes: Buffer) => boolean | number) | null {
  if (length === undefined && until_b64 === undefined && some !== true) return null;
  const wanted = length === undefined ? Number.POSITIVE_INFINITY : bounded(length, 'length', 1, maxBytes);
  if (some === true) return (bytes) => Math.min(bytes.length, wanted);
  if (until_b64 !== undefined && typeof until_b64 !== 'string') throw new Error('until_b64 is no text');
  const until = Buffer.from(until_b64 ?? '', 'base64');
  if (until_b64 !== undefined && (until.length === 0 || until.length > maxUntil)) {
    throw new Error(`until_b64 is not 1 to ${maxUntil} bytes`);
  }
  let searched = 0;
  return (bytes) => {
    if (until.length > 0) {
      const at = bytes.indexOf(until, Math.max(0, searched - until.length));
      searched = bytes.length;
      if (at >= 0) return Math.min(at + until.length, wanted);
    }
    return bytes.length >= wanted ? wanted : false;
  };
}
