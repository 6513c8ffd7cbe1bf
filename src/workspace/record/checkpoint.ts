import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing, writeFileAtomic } from '../atomic-file.ts';
import { isNoPlainFile, openIfThere, readPlainText } from '../plain-file.ts';
import type { ScanFolder } from '../scan-folder.ts';

/** A node's part; its other content belongs to the engine. */
interface NodeCheckpoint {
  done: number;
}

/** Saved states of an interrupted scan by instance ID; empty without a valid checkpoint. */
export async function readCheckpoint<T extends NodeCheckpoint>(folder: ScanFolder): Promise<Map<string, T>> {
  try {
    const { nodes } = JSON.parse(await readPlainText(fileOf(folder))) as { nodes: Record<string, T> };
    return new Map(Object.entries(nodes));
  } catch (error) {
    // A scan without a usable checkpoint restarts its sweep: slower, but correct.
    if (isMissing(error) || isNoPlainFile(error)) return new Map();
    if (error instanceof SyntaxError || error instanceof TypeError) return new Map();
    throw error;
  }
}

/** A number that grows as long as the scan makes progress. */
export async function checkpointProgress(folder: ScanFolder): Promise<number> {
  const nodes = await readCheckpoint(folder);
  return [...nodes.values()].reduce((sum, { done }) => sum + done, 0);
}

/** Total duration of the runs of a scan, and paused time within it, milliseconds. */
export interface RunTime {
  elapsed_ms: number;
  paused_ms: number;
}

/** The time in a checkpoint: null without a checkpoint, `unknown` if it has none. */
export async function readRunTime(folder: ScanFolder): Promise<RunTime | 'unknown' | null> {
  const bytes = await readCheckpointBytes(folder);
  if (bytes === null) return null;
  try {
    const { time } = JSON.parse(bytes.toString()) as { time?: Partial<RunTime> };
    const { elapsed_ms, paused_ms } = time ?? {};
    return isTime(elapsed_ms) && isTime(paused_ms) ? { elapsed_ms, paused_ms } : 'unknown';
  } catch {
    return 'unknown';
  }
}

/** Packets that earlier runs could not send, by reason; empty without any. */
export async function readUnsent(folder: ScanFolder): Promise<Map<string, number>> {
  const bytes = await readCheckpointBytes(folder);
  try {
    const { unsent = [] } = JSON.parse(bytes?.toString() ?? '{}') as { unsent?: [string, number][] };
    return new Map(unsent.filter(([reason, count]) => typeof reason === 'string' && isTime(count)));
  } catch {
    return new Map();
  }
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/** Replaces the checkpoint. The rows it builds on must be sealed before. */
export async function writeCheckpoint(
  folder: ScanFolder,
  nodes: Record<string, NodeCheckpoint>,
  time?: RunTime,
  unsent: ReadonlyMap<string, number> = new Map(),
): Promise<void> {
  const left = unsent.size > 0 && { unsent: [...unsent] };
  await writeFileAtomic(fileOf(folder), JSON.stringify({ nodes, time, ...left }));
}

/** The raw file, for another machine; null if there is none. */
export async function readCheckpointBytes(folder: ScanFolder): Promise<Buffer | null> {
  const file = await openIfThere(fileOf(folder));
  if (file === null) return null;
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Replaces the checkpoint by one of another machine. */
export async function writeCheckpointBytes(folder: ScanFolder, bytes: Uint8Array): Promise<void> {
  await writeFileAtomic(fileOf(folder), bytes);
}

export async function removeCheckpoint(folder: ScanFolder): Promise<void> {
  await rm(fileOf(folder), { force: true });
}

function fileOf(folder: ScanFolder): string {
  return join(folder.path, 'checkpoint.json');
}
