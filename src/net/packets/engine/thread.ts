import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

type ThreadPath = 'engine/send' | 'engine/receive' | 'connect/connect';

/**
 * Starts a thread of packets/. Node.js caches compiled code between runs for the main thread only, unless a thread
 * enables the cache before it loads anything: without that it takes twice the memory and time to start. The launcher
 * passes the folder in NODE_COMPILE_CACHE.
 * @param path of its file, below packets/ and without the ending: sources end in .ts, the packed program's files in .js
 */
export function startThread(path: ThreadPath, workerData: unknown): Worker {
  const file = new URL(`../${path}.worker${extname(import.meta.url)}`, import.meta.url).href;
  const begin = `
    const { NODE_COMPILE_CACHE } = process.env;
    if (NODE_COMPILE_CACHE) require('node:module').enableCompileCache(NODE_COMPILE_CACHE);
    void import(${JSON.stringify(file)});
  `;
  return new Worker(begin, { eval: true, workerData, resourceLimits: { maxYoungGenerationSizeMb: 2 } });
}
