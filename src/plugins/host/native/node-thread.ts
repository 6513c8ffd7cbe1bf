import { extname } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import type { HostWire } from '../hosted-plugin.ts';
import { type ThreadSettings, threadControlWords } from './exchange.ts';
import { NodeService } from './node-service.ts';
import { requireSuccess } from './plugin-struct.ts';

/**
 * Of V8 in the thread. Without a code range of its own size it maps 512 MiB for code, which count against the memory
 * limit of the plugin.
 */
const resourceLimits = { codeRangeSizeMb: 16, maxYoungGenerationSizeMb: 2 };

/** A thread that executes nodes, one after the other. */
export class NodeThread {
  readonly #worker: Worker;
  readonly #ended: Promise<never>;
  #broken = false;

  constructor() {
    const file = new URL(`./execute.worker${extname(import.meta.url)}`, import.meta.url);
    this.#worker = new Worker(file, { env: {}, resourceLimits });
    this.#ended = new Promise((_, reject) => {
      this.#worker.once('error', reject);
      this.#worker.once('exit', (code) =>
        reject(new Error(`the thread of the node ended with code ${code}`)),
      );
    });
    this.#ended.catch(() => {
      this.#broken = true;
    });
  }

  get broken(): boolean {
    return this.#broken;
  }

  /** Serves the calls of the node until `execute` of the plugin returns. @throws Error if the node fails */
  async execute(
    input: Omit<ThreadSettings, 'port' | 'control'>,
    wire: HostWire,
    signal: AbortSignal,
  ): Promise<void> {
    const { port1: port, port2 } = new MessageChannel();
    const control = new Int32Array(new SharedArrayBuffer(4 * threadControlWords));
    const settings: ThreadSettings = { ...input, port: port2, control };
    const service = new NodeService(port, control, wire);
    const cancel = () => service.cancel();
    signal.addEventListener('abort', cancel);
    if (signal.aborted) cancel();
    try {
      this.#worker.postMessage(settings, [port2]);
      const { outcome, failure } = await Promise.race([service.untilEnded(), this.#ended]);
      const reason = service.failure ?? failure;
      if (reason !== null) throw new Error(reason);
      requireSuccess('execute', outcome);
    } finally {
      signal.removeEventListener('abort', cancel);
      port.close();
    }
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
