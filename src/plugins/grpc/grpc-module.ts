import { createHash } from 'node:crypto';
import { forEachItem } from '../../engine/each.ts';
import {
  type DataContext,
  defineModule,
  type ExecContext,
  type ModuleDefinition,
} from '../../engine/module.ts';
import { untilAborted } from '../../net/abort.ts';
import { hostBatches, hostOf, type InputBatch } from '../host/host-batches.ts';
import { batchItems } from '../host/messages.ts';
import type { PluginMetadata } from '../plugin.ts';
import { describeGrpc, type GrpcLimits } from './describe-grpc.ts';
import type { ExecuteResponse } from './gen/module_pb.ts';
import { type GrpcEntry, ModuleClient, shownError } from './module-client.ts';

/** Calls of one node under way at a time. */
const maxCalls = 4;
/** How long the first host of a batch waits for others, milliseconds. */
const batchWaitMs = 500;
/** A larger request is divided by hosts, bytes: most gRPC servers take no more than 4 MiB unless they are told to. */
const maxRequestBytes = 3_500_000;

/** The module of a plugin that runs on its own and is called over gRPC. It is outside of the sandbox and of the gate. */
export function grpcModule(entry: GrpcEntry, metadata: PluginMetadata, limits: GrpcLimits): ModuleDefinition {
  const { name, type, version, description, options, requires, provides } = metadata;
  const definition = defineModule({
    name,
    type,
    version,
    description,
    options,
    requires,
    provides,
    execute: async (ctx, data) => {
      const client = await ModuleClient.open(entry, { outputBytes: limits.output, persistent: true });
      try {
        await new NodeCalls(ctx, data, client, provides).run(entry.batch_size);
      } finally {
        client.close();
      }
    },
  });
  return { ...definition, producer: { name: entry.name, version, sha256: metadataHash(metadata) } };
}

/** A plugin over gRPC has no file that could be hashed: what stands for it is what it says about itself. */
export function metadataHash(metadata: PluginMetadata): string {
  return createHash('sha256').update(JSON.stringify(metadata)).digest('hex');
}

/**
 * Stands for the module of a plugin that was never reached, under the name of its entry, so that a scan that needs it
 * fails that node only. Names of modules have no dashes.
 */
export function unavailableModule(entry: GrpcEntry, limits: GrpcLimits, reason: string): ModuleDefinition {
  const definition = defineModule({
    name: entry.name.replaceAll('-', '_'),
    type: 'evaluation',
    version: '0.0.0',
    description: `A gRPC plugin that was not reached: ${reason}`,
    options: {},
    requires: [],
    provides: [],
    execute: async (ctx) => {
      const { name } = await describeGrpc(entry, limits, ctx.signal);
      throw new Error(
        `its plugin came up after the scan was planned, with the module ${name}: run the scan again`,
      );
    },
  });
  return { ...definition, unavailable: reason };
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
    const limits = hosts === 0 ? allHosts : { hosts, maxWaitMs: batchWaitMs };
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#ctx.signal, stop.signal]);
    const { log, instanceId } = this.#ctx;
    const each = { concurrency: maxCalls, onError: (error: unknown) => stop.abort(error) };
    const calls = forEachItem({ signal, log, instanceId }, hostBatches(inputs, limits), each, (batch) =>
      this.#sendDivided(batch, hosts !== 0, signal),
    );
    // The first failure ends the node at once, also while inputs are awaited.
    await untilAborted(calls, signal);
  }

  /** A batch that is too large for one request goes out in several. */
  async #sendDivided(batch: InputBatch, mayDivide: boolean, signal: AbortSignal): Promise<void> {
    const context = Object.fromEntries(
      Object.entries(batch).map(([key, items]) => [key, Buffer.from(JSON.stringify(items))]),
    );
    const hosts = hostsOf(batch);
    const bytes = Object.values(context).reduce((sum, { length }) => sum + length, 0);
    if (mayDivide && bytes > maxRequestBytes && hosts.length > 1) {
      const middle = Math.ceil(hosts.length / 2);
      for (const part of [hosts.slice(0, middle), hosts.slice(middle)]) {
        await this.#sendDivided(onlyOf(batch, new Set(part)), true, signal);
      }
      return;
    }
    await this.#send(context, signal);
    this.#hosts += hosts.length;
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

function hostsOf(batch: InputBatch): string[] {
  const names = Object.values(batch).flatMap((items) => (Array.isArray(items) ? items.map(hostOf) : []));
  return [...new Set(names)];
}

function onlyOf(batch: InputBatch, hosts: ReadonlySet<string>): InputBatch {
  const part = (items: unknown) =>
    Array.isArray(items) ? items.filter((item) => hosts.has(hostOf(item))) : items;
  return Object.fromEntries(Object.entries(batch).map(([key, items]) => [key, part(items)]));
}
