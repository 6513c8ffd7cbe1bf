/** Thread that renders one report. */
import { enableCompileCache } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import type { ReportJob } from './report-job.ts';

// Node.js caches compiled code for the main thread only, unless a thread asks for it before it loads anything.
const cache = process.env['NODE_COMPILE_CACHE'];
if (cache) enableCompileCache(cache);
const { renderJob } = await import('./render-job.ts');
if (parentPort) await renderJob(workerData as ReportJob, parentPort);
