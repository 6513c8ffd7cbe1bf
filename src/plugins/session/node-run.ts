import { formatByteSize } from '../../domain/text/byte-size.ts';
import { formatDuration } from '../../domain/time/duration.ts';
import { MissingKeyError } from '../../engine/data/data-context.ts';
import type { DataContext, ExecContext } from '../../engine/module.ts';
import { onAbort, untilAborted } from '../../net/abort.ts';
import type {
  CallRejectionReason,
  CallResult,
  HostCall,
  NodeContext,
  PulledItems,
} from '../host/messages.ts';
import type { PluginLimits } from '../plugin.ts';
import { type HostProcess, SandboxFailure } from '../sandbox/host-process.ts';
import { BusyClock } from './busy-clock.ts';
import { GateBridge } from './gate-bridge.ts';
import { responseValue } from './host-frames.ts';
import { ItemBatches, valueBatches } from './item-batches.ts';
import { shown } from './node-notices.ts';

/** From a cancel, or the end of the time limit, to the end of the host, milliseconds. */
const graceMs = 800;
/** Calls of one node that wait for the scan. */
const maxPending = 4096;
/** The node has clocks of its own. */
const noDeadline = 2 ** 31 - 1;

export interface NodeRunOptions {
  ctx: ExecContext;
  data: DataContext;
  limits: PluginLimits;
  /** The plugin may use the network. */
  network: boolean;
}

/** One execution of a node in a plugin host: serves its calls and ends it in time. */
export class NodeRun {
  readonly ctx: ExecContext;
  readonly #node: string;
  readonly #data: DataContext;
  readonly #limits: PluginLimits;
  readonly #host: HostProcess;
  readonly #clock: BusyClock;
  readonly #bridge: GateBridge | null;
  /** Aborted when the node is to end, and when it has ended. */
  readonly #stop = new AbortController();
  /** Keys under way: those of streams, and with `=` before them those of complete values. */
  readonly #sources = new Map<string, { next(): Promise<PulledItems> }>();
  readonly #pulls = new Set<string>();
  readonly #pending = new Set<number>();
  #pendingBytes = 0;
  /** Why the node was stopped. */
  #cause: Error | null = null;
  #grace: NodeJS.Timeout | null = null;
  #warnedOfScope = false;

  constructor(node: string, host: HostProcess, { ctx, data, limits, network }: NodeRunOptions) {
    this.ctx = ctx;
    this.#node = node;
    this.#host = host;
    this.#data = data;
    this.#limits = limits;
    this.#clock = new BusyClock(limits.timeout, () => this.#end(overtime(limits)));
    const warn = (host: string) => this.#warnOfScope(host);
    this.#bridge = network ? new GateBridge(ctx.net, this.#stop.signal, this.#clock, warn) : null;
  }

  /** @throws Error with the cause: of the plugin, of the end of its host, or why the node was stopped */
  async execute(options: Record<string, unknown>): Promise<void> {
    const { signal } = this.ctx;
    const endWatch = onAbort(signal, () => this.#end(signal.reason as Error));
    try {
      await this.#request({ op: 'configure', node: this.#node, options });
      await this.#request({ op: 'execute', node: this.#node, context: this.#context() });
    } catch (error) {
      throw this.#cause ?? error;
    } finally {
      endWatch();
      this.#clock.stop();
      if (this.#grace) clearTimeout(this.#grace);
      this.#stop.abort(new Error('the node has ended'));
      this.#bridge?.close();
    }
    if (this.#cause) throw this.#cause;
  }

  /** @throws Error if the host exceeds what it may have under way */
  receive(call: HostCall, bytes: Buffer, size: number): void {
    if (this.#pending.has(call.call)) throw new Error('two calls of one number');
    this.#pending.add(call.call);
    this.#pendingBytes += size;
    if (this.#pending.size > maxPending) throw new Error(`more than ${maxPending} calls at a time`);
    if (this.#pendingBytes > this.#limits.output) {
      const limit = formatByteSize(this.#limits.output);
      throw new Error(`calls of more than ${limit} (plugins.limits.output) at a time`);
    }
    void this.#serve(call, bytes).finally(() => {
      this.#pending.delete(call.call);
      this.#pendingBytes -= size;
    });
  }

  async #request(message: object): Promise<void> {
    const { message: response } = await this.#host.call(message, noDeadline);
    responseValue(response);
  }

  #context(): NodeContext {
    const { scanId, instanceId, deadline } = this.ctx;
    return {
      scan_id: scanId,
      instance_id: instanceId,
      deadline_ms: deadline === null ? null : Math.max(0, Math.round(deadline - performance.now())),
      keys: this.#data.keys(),
      network: this.#bridge !== null,
    };
  }

  async #serve(call: HostCall, bytes: Buffer): Promise<void> {
    let result: CallResult;
    let sent: Buffer | undefined;
    const endWait = call.op === 'net' ? () => {} : this.#clock.wait();
    try {
      const { signal } = this.#stop;
      signal.throwIfAborted();
      const done = await untilAborted(this.#perform(call, bytes), signal);
      result = { call: call.call, value: done.value };
      sent = done.bytes;
    } catch (error) {
      result = { call: call.call, ...this.#rejection(call, error as Error) };
    } finally {
      endWait();
    }
    await this.#host.drained();
    this.#host.send(result, sent);
  }

  /** What is published wrong, or sent without permission, fails the node, whatever the plugin makes of the response. */
  #rejection(call: HostCall, error: Error): { error: string; reason: CallRejectionReason } {
    if (this.#stop.signal.aborted) return { error: 'the node was stopped', reason: 'canceled' };
    if (error instanceof MissingKeyError) return { error: error.message, reason: 'missing' };
    if (call.op !== 'pull') this.#end(error);
    return { error: error.message, reason: 'invalid' };
  }

  async #perform(call: HostCall, bytes: Buffer): Promise<{ value?: unknown; bytes?: Buffer }> {
    switch (call.op) {
      case 'pull':
        return { value: await this.#pull(call.key, call.complete) };
      case 'append':
        await this.#data.append(call.key, ...call.items);
        return {};
      case 'set':
        await this.#data.set(call.key, call.value);
        return {};
      case 'net':
        if (this.#bridge) return await this.#bridge.perform(call.request, bytes);
        throw new Error('it may not use the network: its manifest does not list the permission "network"');
    }
  }

  async #pull(key: string, isComplete: boolean): Promise<PulledItems> {
    const id = isComplete ? `=${key}` : key;
    if (this.#pulls.has(id)) throw new Error(`"${shown(key)}" is read twice at a time`);
    this.#pulls.add(id);
    try {
      if (!this.#data.has(key)) throw new MissingKeyError(key, 'no upstream node provides it');
      const source = this.#sources.get(id) ?? (await this.#sourceOf(key, isComplete));
      this.#sources.set(id, source);
      const pulled = await source.next();
      if (pulled.end && isComplete) this.#sources.delete(id);
      return pulled;
    } finally {
      this.#pulls.delete(id);
    }
  }

  async #sourceOf(key: string, isComplete: boolean): Promise<{ next(): Promise<PulledItems> }> {
    return isComplete ? valueBatches(await this.#data.get(key)) : new ItemBatches(this.#data.stream(key));
  }

  /** Once for a node: the operator learns that a plugin tries to leave the scan. */
  #warnOfScope(host: string): void {
    if (this.#warnedOfScope) return;
    this.#warnedOfScope = true;
    const which = `hosts that are not addresses of the scan, such as ${shown(host)}`;
    this.ctx.warn('request_out_of_scope', `${this.ctx.instanceId} tried to reach ${which}: nothing was sent`);
  }

  /** The host is asked to end the node, and ended itself if it does not. */
  #end(cause: Error): void {
    if (this.#cause || this.#stop.signal.aborted) return;
    this.#cause = cause;
    this.#stop.abort(cause);
    this.#host.send({ op: 'cancel', node: this.#node });
    this.#grace = setTimeout(() => {
      this.#host.end(new SandboxFailure('deadline', 'the plugin host was ended: a node of it did not stop'));
    }, graceMs);
  }
}

function overtime({ timeout }: PluginLimits): Error {
  return new Error(`it ran longer than ${formatDuration(timeout)} (plugins.limits.timeout)`);
}
