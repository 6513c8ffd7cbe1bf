import type { PluginMetadata } from '../plugin.ts';
import type { CallRejectionReason, HostNotice, NetRequest, NodeContext, PulledItems } from './messages.ts';

/** A plugin that this host has loaded; each kind implements it. */
export interface HostedPlugin {
  /** As the plugin says; checked by the scan. */
  readonly metadata: PluginMetadata;
  /** Once, before the first node. */
  initialize(): Promise<void>;
  /** Once per node, before `execute`. @throws Error whose text fails the node */
  configure(node: string, options: Record<string, unknown>): Promise<void>;
  /** @throws Error whose text fails the node */
  execute(node: string, context: NodeContext, wire: HostWire, signal: AbortSignal): Promise<void>;
  /** Once, before the host ends. */
  cleanup(): Promise<void>;
}

/** Loads one kind of plugin. @throws Error that says why not */
export type LoadPlugin = (file: string, config: string | undefined) => Promise<HostedPlugin>;

export type LogLevel = Extract<HostNotice, { op: 'log' }>['level'];

/**
 * What a node can ask of the scan. Calls reject if the scan rejects them. After a rejected `append`, `set` or `net` the
 * node fails, whatever it does.
 */
export interface HostWire {
  /**
   * The next items of a key, at most `batchItems`.
   * @param complete items of the complete value, merged, once all of them have arrived (`get`); not of the stream
   */
  pull(key: string, complete?: boolean): Promise<PulledItems>;
  /** Batches small calls. Resolves when there is room for more, not when the items have been published. */
  append(key: string, items: unknown[]): Promise<void>;
  /** The same for items that are JSON already. */
  appendJson(key: string, items: readonly string[]): Promise<void>;
  set(key: string, value: unknown): Promise<void>;
  net(request: NetRequest, bytes?: Uint8Array): Promise<{ value: unknown; bytes: Buffer }>;
  log(level: LogLevel, message: string): void;
  progress(done: number, total?: number): void;
  warn(code: string, message: string, target?: string): void;
}

/** Why the scan rejected a call. `missing`: nothing comes under this key. */
export class CallRejection extends Error {
  readonly reason: CallRejectionReason;

  constructor(reason: CallRejectionReason, message: string) {
    super(message);
    this.name = reason === 'missing' ? 'MissingKeyError' : 'CallRejection';
    this.reason = reason;
  }
}
