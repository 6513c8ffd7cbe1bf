import type { Logger } from '../engine/module.ts';
import type { GraphRun } from '../engine/run.ts';
import { writeCheckpoint } from '../workspace/checkpoint.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';

/** A kill costs at most what was done since the last checkpoint. */
const intervalMs = 500;

/**
 * Writes down twice a second how far the nodes are, until the returned function is called. `seal` makes durable what
 * was found before the states were taken: a checkpoint never says that something is done whose result is not on disk.
 */
export function keepCheckpoint(
  folder: ScanFolder,
  graph: GraphRun,
  seal: () => Promise<void>,
  log: Logger,
): () => Promise<void> {
  let writing = Promise.resolve();
  let idle = true;
  const write = async () => {
    const states = graph.snapshot();
    await seal();
    await writeCheckpoint(folder, states);
  };
  const timer = setInterval(() => {
    if (!idle) return;
    idle = false;
    writing = write()
      .catch((error: unknown) => log.warn('the checkpoint could not be written', { error: String(error) }))
      .finally(() => {
        idle = true;
      });
  }, intervalMs);
  return async () => {
    clearInterval(timer);
    await writing;
  };
}
