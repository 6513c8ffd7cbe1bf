import { join } from 'node:path';
import { formatDuration } from '../../domain/time/duration.ts';
import type { DataContext, ExecContext, Logger } from '../../engine/module.ts';
import type { HostCall, HostedKind, HostNotice } from '../host/messages.ts';
import type { PluginFile, PluginLimits } from '../plugin.ts';
import type { Frame } from '../sandbox/frames.ts';
import { type HostProcess, pluginHostProgram, SandboxFailure } from '../sandbox/host-process.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import { readHostMessage, responseValue } from './host-frames.ts';
import { NodeNotices } from './node-notices.ts';
import { NodeRun } from './node-run.ts';

/** For loading and for `initialize`, and for `cleanup`, milliseconds; the limit of the plugin if that is shorter. */
const loadMs = 30_000;
const cleanupMs = 5000;
/** Pages of a WebAssembly memory: 64 MiB. The host collects what large instances leave. */
const wasmFlags = ['--wasm-max-mem-pages=1024', '--expose-gc'];
/** Code of a plugin that runs while it is loaded. */
const loadCode: Record<HostedKind, string> = {
  script: 'its top level',
  native: 'its constructors and metadata',
  wasm: 'its start function, _initialize and metadata',
};
/** Lines that a plugin logs before its first node. */
const maxEarlyLines = 20;

/** The host of one plugin in one scan. */
export class PluginSession {
  readonly #file: PluginFile;
  readonly #limits: PluginLimits;
  readonly #sandbox: Promise<Sandbox>;
  readonly #runs = new Map<string, NodeRun>();
  #metadata: unknown = null;
  #nodes = 0;
  #notices: NodeNotices | null = null;
  #early: HostNotice[] = [];

  /** Starts the host at once; what fails there, fails the nodes. */
  constructor(file: PluginFile, limits: PluginLimits, { initialize = true } = {}) {
    this.#file = file;
    this.#limits = limits;
    const options = {
      program: pluginHostProgram,
      flags: file.kind === 'wasm' ? wasmFlags : [],
      memory: limits.memory,
      output: limits.output,
      threads: limits.threads,
      readable: [file.folder],
      allowUnconfined: limits.allowUnconfined,
      ...(limits.landlockAbi !== undefined && { landlockAbi: limits.landlockAbi }),
    };
    this.#sandbox = Sandbox.start(options, {
      receive: (frame, host) => this.#receive(frame, host),
      prepare: (host) => this.#prepare(host, initialize),
    });
    this.#sandbox.catch(() => {});
  }

  /** What the plugin says about its module, unchecked. @throws SandboxFailure; Error of the plugin */
  async metadata(): Promise<unknown> {
    await this.#sandbox;
    return this.#metadata;
  }

  /** @throws Error with the cause */
  async run(options: Record<string, unknown>, ctx: ExecContext, data: DataContext): Promise<void> {
    const notices = this.#noticesOf(ctx.log);
    const sandbox = await this.#sandbox;
    const host = await sandbox.host();
    this.#warnOfLacks(host, ctx);
    this.#nodes += 1;
    const node = `n${this.#nodes}`;
    const network = this.#file.permissions.includes('network');
    const run = new NodeRun(node, host, { ctx, data, limits: this.#limits, network });
    this.#runs.set(node, run);
    try {
      await run.execute(options);
    } finally {
      this.#runs.delete(node);
      notices.end();
    }
  }

  /** Lets the plugin clean up and ends its host. */
  async close(): Promise<void> {
    const sandbox = await this.#sandbox.catch(() => null);
    const host = await sandbox?.running();
    if (host) {
      const ms = Math.min(cleanupMs, this.#limits.timeout);
      await host
        .call({ op: 'cleanup' }, ms)
        .then(({ message }) => responseValue(message))
        .catch((error: Error) => this.#notices?.warn('plugin cleanup failed', error.message));
    }
    await sandbox?.close();
  }

  async #prepare(host: HostProcess, initialize: boolean): Promise<void> {
    const { folder, entry } = this.#file;
    const kind = this.#file.kind as HostedKind;
    const { output } = this.#limits;
    const load = { op: 'load', kind, file: join(folder, entry), output };
    const loaded = await this.#start(host, load, loadCode[kind]);
    this.#metadata = (loaded as { metadata?: unknown } | null)?.metadata;
    if (initialize) await this.#start(host, { op: 'initialize' }, 'its initialize');
  }

  /** @param code of the plugin that it runs @throws SandboxFailure; Error of the plugin */
  async #start(host: HostProcess, request: object, code: string): Promise<unknown> {
    const { timeout } = this.#limits;
    const ms = Math.min(loadMs, timeout);
    const response = await host.call(request, ms).catch((error: SandboxFailure) => {
      if (error.reason !== 'deadline') throw error;
      const limit = timeout < loadMs ? ' (plugins.limits.timeout)' : '';
      const late = `it did not start within ${formatDuration(ms)}${limit}: ${code} did not end`;
      throw new SandboxFailure('deadline', late);
    });
    return responseValue(response.message);
  }

  #receive({ message, bytes, length }: Frame, host: HostProcess): void {
    const sent = readHostMessage(message);
    const run = this.#runs.get(sent.node) ?? null;
    if (!('call' in sent)) return this.#takeNotice(sent, run);
    if (run) return run.receive(sent, bytes, length);
    this.#rejectLate(sent, host);
  }

  /** What a plugin left running may still call for a node that has ended; nothing was ever called so otherwise. */
  #rejectLate({ node, call }: HostCall, host: HostProcess): void {
    const number = Number(/^n(\d{1,9})$/.exec(node)?.[1]);
    if (!(number >= 1 && number <= this.#nodes)) throw new Error('a call of a node that does not exist');
    host.send({ call, error: 'the node has ended', reason: 'canceled' });
  }

  #takeNotice(notice: HostNotice, run: NodeRun | null): void {
    if (this.#notices) this.#notices.take(notice, run?.ctx ?? null);
    else if (this.#early.length < maxEarlyLines) this.#early.push(notice);
  }

  #noticesOf(log: Logger): NodeNotices {
    if (this.#notices) return this.#notices;
    this.#notices = new NodeNotices(this.#file.name, log);
    for (const notice of this.#early.splice(0)) this.#notices.take(notice, null);
    return this.#notices;
  }

  #warnOfLacks({ lacks }: HostProcess, ctx: ExecContext): void {
    if (lacks.length === 0) return;
    const { name } = this.#file;
    ctx.warn('plugin_unconfined', `${name} runs without a part of the sandbox: ${lacks.join('; ')}`, name);
  }
}
