import { ShardWorker, type ShardWorkerInput } from '../../worker/shard-worker.ts';
import type { Component } from '../components.ts';
import type { ServerContext } from '../context.ts';
import { WorkerScale } from '../scans/worker-scale.ts';
import type { ShutdownDeadline } from '../shutdown-deadline.ts';
import type { Distribution } from './distribution.ts';
import { ownPools } from './presence.ts';

/** The worker inside a server that divides its scans into shards. */
export class LocalWorker implements Component {
  readonly #context: ServerContext;
  readonly #shards: Distribution;
  #worker: ShardWorker | null = null;

  constructor(context: ServerContext, shards: Distribution) {
    this.#context = context;
    this.#shards = shards;
  }

  async start(): Promise<void> {
    const idPrefix = `${this.#shards.home}:`;
    this.#worker = new ShardWorker(this.#settings(idPrefix));
    // The previous server process is gone, and its local worker with it.
    await this.#shards.line.releaseOf(idPrefix);
    await this.#worker.start();
    this.#shards.localWorker = this.#worker;
  }

  async drain({ scansMs }: ShutdownDeadline): Promise<void> {
    this.#shards.localWorker = null;
    // No process is kept for another shard.
    void this.#context.workers.processes.close();
    await this.#worker?.stop(scansMs);
  }

  #settings(idPrefix: string): ShardWorkerInput {
    const { config, store, workspace, workers, version, traces, plugins, log } = this.#context;
    return {
      store,
      line: this.#shards.line,
      config,
      workspaceDir: workspace.dir,
      idPrefix,
      pools: [...ownPools],
      tags: [],
      concurrency: config.workers.auto_scale ? config.workers.max : config.server.workers,
      // Processes are started as shards need them; the capacity in the health response scales with the load too.
      scale: config.workers.auto_scale ? new WorkerScale(config) : null,
      version: version.version,
      processes: workers.processes,
      listeners: workers.listeners,
      placePlugins: (request) => plugins.place(request, store),
      traces,
      log,
    };
  }
}
