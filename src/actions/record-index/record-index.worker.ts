/** Thread of the indexes of a server. */
import { enableCompileCache } from 'node:module';
import { parentPort } from 'node:worker_threads';

// Node.js caches compiled code for the main thread only, unless a thread asks for it before it loads anything.
const cache = process.env['NODE_COMPILE_CACHE'];
if (cache) enableCompileCache(cache);
const { serveIndexes } = await import('./serve-indexes.ts');
if (parentPort) serveIndexes(parentPort);
