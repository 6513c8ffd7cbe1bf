import { randomBytes } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import { newScanId, type ScanRequest } from '../domain/scan.ts';
import type { EmbeddedQueue } from '../queue/embedded.ts';
import type { Store } from '../store/open.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { decideRequest, type ScanChoices, type Submission } from './decide-request.ts';

export interface SubmitContext {
  store: Store;
  workspace: Workspace;
  queue: EmbeddedQueue;
  config: Config;
  choices: ScanChoices;
  /** Tells the workers that a scan waits. */
  wake(): void;
}

/** The answer to a submission: exactly these three fields. */
export interface Accepted {
  scan_id: string;
  status: 'queued';
  created_at: string;
}

/**
 * Takes a scan: once this returns, the scan is on the disk and in the queue, and survives a kill.
 * @throws PortolanError `invalid_request`, `queue_full`, `insufficient_storage`
 */
export async function submitScan(
  context: SubmitContext,
  submission: Submission,
  user: string | null,
): Promise<Accepted> {
  const request = decide(context, submission, user);
  await checkRoom(context, context.store);
  const stored = await storeRequest(context, request);
  context.wake();
  return { scan_id: stored.scan_id, status: 'queued', created_at: stored.created_at };
}

function decide(
  { config, choices }: SubmitContext,
  submission: Submission,
  user: string | null,
): ScanRequest {
  const createdAt = new Date();
  return decideRequest(submission, config, choices, {
    scanId: newScanId(createdAt, randomBytes),
    createdAt,
    user,
  });
}

async function checkRoom({ queue, config }: SubmitContext, store: Store): Promise<void> {
  const { pending } = await queue.counts(store);
  if (pending < config.queue.max_jobs) return;
  throw new PortolanError('queue_full', `${pending} scans wait already, as many as queue.max_jobs allows.`, {
    pending,
    max_jobs: config.queue.max_jobs,
  });
}

async function storeRequest(context: SubmitContext, first: ScanRequest): Promise<ScanRequest> {
  const request = await createFolder(context, first);
  const { store, workspace, queue } = context;
  try {
    await store.transaction(async (inside) => {
      // Others may have come between the first look, which spares a full queue the writing, and this one.
      await checkRoom(context, inside);
      await inside.scans.insert(request);
      await queue.enqueue(inside, request.scan_id, request.pool);
    });
  } catch (error) {
    await workspace.scan(request.scan_id).remove();
    throw error;
  }
  return request;
}

/** The folder is what makes an id ours; one that is taken (24 random bits a second) is replaced by another. */
async function createFolder({ store, workspace }: SubmitContext, first: ScanRequest): Promise<ScanRequest> {
  for (
    let request = first;
    ;
    request = { ...first, scan_id: newScanId(new Date(first.created_at), randomBytes) }
  ) {
    if ((await store.scans.get(request.scan_id)) !== null) continue;
    try {
      await workspace.scan(request.scan_id).create(request);
      return request;
    } catch (error) {
      if (!(error instanceof PortolanError && error.code === 'conflict')) throw error;
    }
  }
}
