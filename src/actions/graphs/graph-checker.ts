import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { LicenseFeature } from '../../domain/license.ts';
import type { ModuleDefinition } from '../../engine/module.ts';
import type { Registry } from '../../engine/registry.ts';
import { Slots } from '../../net/gate/slots.ts';
import type { License } from '../../workspace/license/read-license.ts';
import { type GraphFile, type GraphVerdict, graphVerdict } from './check-graph.ts';

/** A shorter file is checked at once: that takes a few milliseconds, and a thread takes longer to start. Characters. */
const shortText = 8 * 1024;
/** Time limit of a thread, milliseconds. */
const longestCheck = 10_000;
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

/** What a thread checks. Plain data. */
export interface GraphCheckJob {
  file: GraphFile;
  modules: Omit<ModuleDefinition, 'create' | 'prepare' | 'endScan'>[];
  maxRate: number;
  features: readonly LicenseFeature[] | undefined;
}

/** What graphs are checked against. */
export interface GraphRules {
  registry: Registry;
  license?: License;
}

/** Checks graph files of clients, long ones in a thread: a hostile one must not block the event loop. */
export class GraphChecker {
  readonly #slots = new Slots(1);

  /** @throws the reason of `signal` */
  async check(file: GraphFile, rules: GraphRules, signal: AbortSignal): Promise<GraphVerdict> {
    const features = rules.license?.features();
    if (file.text.length <= shortText) return graphVerdict(file, rules.registry, features);
    if (!(await this.#slots.acquire(signal))) throw signal.reason;
    try {
      const { registry } = rules;
      const job = { file, modules: modulesOf(registry), maxRate: registry.maxRate(), features };
      return await checkInThread(job, signal);
    } finally {
      this.#slots.release();
    }
  }
}

function modulesOf(registry: Registry): GraphCheckJob['modules'] {
  return registry
    .list()
    .map(({ name, type, version, description, options, requires, provides, reads, unavailable }) => ({
      name,
      type,
      version,
      description,
      options,
      requires,
      provides,
      reads,
      ...(unavailable !== undefined && { unavailable }),
    }));
}

async function checkInThread(job: GraphCheckJob, signal: AbortSignal): Promise<GraphVerdict> {
  const file = new URL(`./graph-check.worker${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(file, { workerData: job, resourceLimits });
  try {
    return await new Promise((resolve, reject) => {
      const late = AbortSignal.any([signal, AbortSignal.timeout(longestCheck)]);
      late.addEventListener('abort', () => (signal.aborted ? reject(signal.reason) : resolve(tooComplex)));
      worker.once('message', resolve);
      worker.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve(tooComplex) : reject(error),
      );
      worker.once('exit', (code) => reject(new Error(`the thread of a graph check ended with code ${code}`)));
    });
  } finally {
    await worker.terminate();
  }
}

const tooComplex: GraphVerdict = {
  valid: false,
  problems: [
    {
      severity: 'error',
      type: 'size',
      line: 1,
      column: 1,
      node: null,
      field: null,
      message: 'the graph is too complex: checking it takes more than 10 s or 256 MiB',
    },
  ],
  graph: null,
};
