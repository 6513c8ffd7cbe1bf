import type { Logger } from '../engine/module.ts';
import type { GraphRun } from '../engine/run.ts';
import { pause } from '../net/abort.ts';
import { type RunTime, writeCheckpoint } from '../workspace/record/checkpoint.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';

/**
 * Interval of checkpoints, milliseconds: a kill loses at most the work since the last one. A slow disk delays the
 * next one by the duration of the write, not by a whole interval.
 */
const intervalMs = 400;

/**
 * Saves the state of the nodes at least twice a second, until the returned function is called. `seal` first makes
 * durable what was found before the states were taken: a checkpoint never marks work as done whose result is not on
 * disk.
 */
export function saveCheckpoint(
  folder: ScanFolder,
  graph: GraphRun,
  seal: () => Promise<void>,
  time: () => RunTime,
  unsent: () => ReadonlyMap<string, number>,
  log: Logger,
): () => Promise<void> {
  const stop = new AbortController();
  const write = async () => {
    const states = graph.snapshot();
    await seal();
    await writeCheckpoint(folder, states, time(), unsent());
  };
  const keepWriting = async () => {
    for (let due = performance.now() + intervalMs; ; ) {
      await pause(Math.max(0, due - performance.now()), stop.signal);
      if (stop.signal.aborted) return;
      due = performance.now() + intervalMs;
      await write().catch((error: unknown) =>
        log.warn('could not write the checkpoint', { error: String(error) }),
      );
    }
  };
  const writing = keepWriting();
  return async () => {
    stop.abort();
    await writing;
  };
}
