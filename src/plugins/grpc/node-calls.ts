import { forEachItem } from '../../engine/each.ts';
import type { DataContext, ExecContext } from '../../engine/module.ts';
import { untilAborted } from '../../net/abort.ts';
import { hostBatches, hostOf, type InputBatch } from '../host/host-batches.ts';
import { batchItems } from '../host/messages.ts';
import type { GrpcLimits } from './describe-grpc.ts';
import type { ExecuteResponse } from './gen/module_pb.ts';
import { type GrpcEntry, ModuleClient, shownError } from './module-client.ts';

/** Calls of one node under way at a time. */
const maxCalls = 4;
/** How long the first host of a batch waits for others, milliseconds. */
const batchWaitMs = 500;
/** A batch ends once its items are as large, bytes: most gRPC servers take no more than 4 MiB unless they are told to. */
const maxBatchBytes = 3_000_000;

/** A node of a gRPC plugin. */
interface GrpcNode {
  entry: GrpcEntry;
  limits: GrpcLimits;
  /** Keys that it may publish. */
  provides: readonly string[];
  ctx: ExecContext;
  data: DataContext;
}

/** Sends the inputs of a node and publishes the responses. @throws Error with the cause of the first call that failed */
export async function runOverGrpc({ entry, limits, provides, ctx, data }: GrpcNode): Promise<void> {
  const client = await ModuleClient.open(entry, { outputBytes: limits.output, persistent: true });
  try {
    await new NodeCalls(ctx, data, client, provides).run(entry.batch_size);
  } finally {
    client.close();
  }
}

/** The calls of one node. */
class NodeCalls {
  readonly #ctx: ExecContext;
  readonly #data: DataContext;
  readonly #client: ModuleClient;
  readonly #provides: readonly string[];
  readonly #config: Buffer;
  #hosts = 0;

  constructor(ctx: ExecContext, data: DataContext, client: ModuleClient, provides: readonly string[]) {
    this.#ctx = ctx;
    this.#data = data;
    this.#client = client;
    this.#provides = provides;
    this.#config = Buffer.from(JSON.stringify(ctx.options));
  }

  /** @param hosts of one call; 0 = all @throws Error with the cause of the first call that failed */
  async run(hosts: number): Promise<void> {
    const keys = this.#data.keys();
    if (keys.length === 0) return this.#send({}, this.#ctx.signal);
    const inputs = Object.fromEntries(keys.map((key) => [key, this.#data.stream<unknown>(key)]));
    const limits = hosts === 0 ? allHosts : { hosts, bytes: maxBatchBytes, maxWaitMs: batchWaitMs };
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#ctx.signal, stop.signal]);
    const { log, instanceId } = this.#ctx;
    const each = { concurrency: maxCalls, onError: (error: unknown) => stop.abort(error) };
    const calls = forEachItem({ signal, log, instanceId }, hostBatches(inputs, limits), each, (batch) =>
      this.#sendBatch(batch, signal),
    );
    // The first failure ends the node at once, also while inputs are awaited.
    await untilAborted(calls, signal);
  }

  async #sendBatch(batch: InputBatch, signal: AbortSignal): Promise<void> {
    const inputs = Object.entries(batch).map(
      ([key, items]) => [key, Buffer.from(JSON.stringify(items))] as const,
    );
    await this.#send(Object.fromEntries(inputs), signal);
    this.#hosts += countHosts(batch);
    this.#ctx.progress(this.#hosts);
  }

  async #send(context: Record<string, Uint8Array<ArrayBuffer>>, signal: AbortSignal): Promise<void> {
    const response = await this.#client.execute(
      { context, config: this.#config as Uint8Array<ArrayBuffer> },
      signal,
    );
    for (const [key, items] of this.#read(response)) await this.#publish(key, items, signal);
    if (response.error !== '') throw new Error(shownError(response.error));
  }

  /** Everything is read before anything is published. @throws Error if a key or value is not as the plugin declared */
  #read({ context }: ExecuteResponse): [key: string, items: unknown[]][] {
    return Object.entries(context).map(([key, bytes]) => {
      const name = JSON.stringify(key.slice(0, 64));
      if (!this.#provides.includes(key))
        throw new Error(`its response has the key ${shownError(name)}, which it does not provide`);
      const value = parse(bytes);
      if (!Array.isArray(value)) throw new Error(`its response has no JSON list under ${name}`);
      return [key, value as unknown[]];
    });
  }

  async #publish(key: string, items: unknown[], signal: AbortSignal): Promise<void> {
    for (let at = 0; at < items.length; at += batchItems) {
      signal.throwIfAborted();
      await this.#data.append(key, ...items.slice(at, at + batchItems));
    }
  }
}

const allHosts = { hosts: Number.POSITIVE_INFINITY, maxWaitMs: 2 ** 31 - 1 };

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    return undefined;
  }
}

function countHosts(batch: InputBatch): number {
  const items = Object.values(batch).flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  return new Set(items.map(hostOf)).size;
}
