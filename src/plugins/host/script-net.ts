import type { HostWire } from './hosted-plugin.ts';
import type { NetRequest, NodeContext } from './messages.ts';

/** Defaults of a script, milliseconds. */
const sessionMs = 10_000;
const idleMs = 2000;
const udpMs = 2000;

interface ScriptReadOptions {
  /** Idle timeout between bytes, milliseconds. */
  idleMs?: number;
  /** The response is complete with this many bytes. */
  length?: number;
  /** The response is complete with these bytes. */
  until?: string | Uint8Array;
}

/** The gate of the scan as a script sees it. */
export function scriptNet(context: NodeContext, wire: HostWire) {
  const ask = async (request: NetRequest, bytes?: Uint8Array) => {
    if (context.network) return await wire.net(request, bytes);
    throw new Error(
      'this plugin may not use the network: its manifest does not list the permission "network"',
    );
  };
  return {
    async connect(host: string, port: number, { deadlineMs = sessionMs, connectMs }: DialLimits = {}) {
      const limits = { deadline_ms: deadlineMs, ...(connectMs !== undefined && { connect_ms: connectMs }) };
      const { value } = await ask({ method: 'connect', host, port, ...limits });
      const result = value as { connection: number; latency_ms: number } | { failure: object };
      if ('failure' in result) return result;
      return { connection: new ScriptConnection(result.connection, result.latency_ms, ask) };
    },
    async askUdp(
      host: string,
      port: number,
      request: Uint8Array,
      limits: { timeoutMs?: number; retries?: number } = {},
    ) {
      const { timeoutMs = udpMs, retries = 0 } = limits;
      const { value, bytes } = await ask(
        { method: 'askUdp', host, port, timeout_ms: timeoutMs, retries },
        request,
      );
      return value === null ? null : bytes;
    },
  };
}

interface DialLimits {
  deadlineMs?: number;
  connectMs?: number;
}

type Ask = (request: NetRequest, bytes?: Uint8Array) => Promise<{ value: unknown; bytes: Buffer }>;

class ScriptConnection {
  readonly latencyMs: number;
  readonly #id: number;
  readonly #ask: Ask;

  constructor(id: number, latencyMs: number, ask: Ask) {
    this.#id = id;
    this.latencyMs = latencyMs;
    this.#ask = ask;
  }

  async write(data: string | Uint8Array, last = false): Promise<boolean> {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    const { value } = await this.#ask({ method: 'write', connection: this.#id, last }, bytes);
    return value as boolean;
  }

  async read(options: ScriptReadOptions = {}): Promise<{ bytes: Buffer; end: string }> {
    const { length, until } = options;
    const { value, bytes } = await this.#ask({
      method: 'read',
      connection: this.#id,
      idle_ms: options.idleMs ?? idleMs,
      ...(length !== undefined && { length }),
      ...(until !== undefined && { until_b64: Buffer.from(until as string).toString('base64') }),
    });
    return { bytes, end: (value as { end: string }).end };
  }

  /** Afterward this connection communicates inside TLS. */
  async startTls({
    serverName = null,
    alpn = [],
  }: {
    serverName?: string | null;
    alpn?: string[];
  } = {}): Promise<unknown> {
    const { value } = await this.#ask({
      method: 'startTls',
      connection: this.#id,
      server_name: serverName,
      alpn,
    });
    const result = value as { tls: object } | { reason: string };
    return 'tls' in result ? { connection: this, tls: result.tls } : result;
  }

  close(): void {
    // A connection that is closed already is as it should be.
    this.#ask({ method: 'close', connection: this.#id }).catch(() => undefined);
  }
}
