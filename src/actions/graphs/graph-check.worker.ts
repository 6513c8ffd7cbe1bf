/** Thread that checks one graph file. */
import { parentPort, workerData } from 'node:worker_threads';
import { Registry } from '../../engine/registry.ts';
import { graphVerdict } from './check-graph.ts';
import type { GraphCheckJob } from './graph-checker.ts';

const { file, modules, maxRate, features } = workerData as GraphCheckJob;
const registry = new Registry();
registry.maxRate = () => maxRate;
for (const module of modules) {
  const create = () => {
    throw new Error('modules do not run here');
  };
  registry.register({ ...module, create }, 'known');
}
parentPort?.postMessage(graphVerdict(file, registry, features));
