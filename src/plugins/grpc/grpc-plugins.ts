import { pause } from '../../net/abort.ts';
import type { PluginMetadata } from '../plugin.ts';
import { describeGrpc, type GrpcLimits } from './describe-grpc.ts';
import type { GrpcEntry } from './module-client.ts';

/** Delay before a plugin that failed is asked again, doubled up to the longest; milliseconds. */
const firstDelayMs = 1000;
/** The longest such delay, milliseconds. */
const longestRetryMs = 60_000;
/** A plugin that responded is asked again after this, milliseconds. */
const checkIntervalMs = 60_000;

/** A configured plugin and what is known of it. */
export interface GrpcPlugin {
  entry: GrpcEntry;
  /** What it said last; null if it was never reached. */
  metadata: PluginMetadata | null;
  /** Its module is known. */
  loaded: boolean;
  /** Why it does not respond now, or its response is invalid. */
  error: string | null;
}

export interface GrpcPluginOptions {
  entries: readonly GrpcEntry[];
  limits: GrpcLimits;
  /** Called after something in `list` changed. */
  onChange?: () => void;
  /** Waits, or returns early when the signal aborts. */
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Asks the configured gRPC plugins for their modules in the background, as long as it runs. */
export class GrpcPlugins {
  readonly #options: GrpcPluginOptions;
  readonly #plugins: GrpcPlugin[];
  readonly #closed = new AbortController();
  #loops: Promise<void>[] = [];

  constructor(options: GrpcPluginOptions) {
    this.#options = options;
    this.#plugins = options.entries.map((entry) => ({
      entry,
      metadata: null,
      loaded: false,
      error: 'not asked yet',
    }));
  }

  /** In the order of the configuration. */
  list(): readonly GrpcPlugin[] {
    return this.#plugins;
  }

  /** Resolves once every plugin has responded or failed for the first time. */
  async start(): Promise<void> {
    const first = this.#plugins.map((plugin) => this.#ask(plugin));
    this.#loops = this.#plugins.map(async (plugin, index) =>
      this.#askAgain(plugin, (await first[index]) === true),
    );
    await Promise.all(first);
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error('the service shuts down'));
    await Promise.all(this.#loops);
  }

  async #askAgain(plugin: GrpcPlugin, responded: boolean): Promise<void> {
    const { signal } = this.#closed;
    const { wait = pause } = this.#options;
    for (let failures = responded ? 0 : 1; !signal.aborted; ) {
      const delay = Math.min(firstDelayMs * 2 ** (failures - 1), longestRetryMs);
      await wait(failures === 0 ? checkIntervalMs : delay, signal);
      if (signal.aborted) return;
      failures = (await this.#ask(plugin)) ? 0 : failures + 1;
    }
  }

  /** @returns whether it responded as it should */
  async #ask(plugin: GrpcPlugin): Promise<boolean> {
    const { entry } = plugin;
    try {
      const metadata = await describeGrpc(entry, this.#options.limits, this.#closed.signal);
      this.#update(plugin, { metadata, error: null });
      return true;
    } catch (error) {
      if (!this.#closed.signal.aborted) this.#update(plugin, { error: (error as Error).message });
      return false;
    }
  }

  #update(plugin: GrpcPlugin, change: Partial<Pick<GrpcPlugin, 'metadata' | 'error'>>): void {
    const { metadata = plugin.metadata, error = null } = change;
    const isSame = error === plugin.error && JSON.stringify(metadata) === JSON.stringify(plugin.metadata);
    if (isSame) return;
    Object.assign(plugin, { metadata, error, loaded: metadata !== null });
    this.#options.onChange?.();
  }
}
