import { createHash, randomBytes } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import { newScanId, type ScanRequest } from '../domain/scan.ts';
import type { EmbeddedQueue } from '../queue/embedded.ts';
import type { KeyRecord } from '../store/idempotency.ts';
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

export interface Submitted {
  accepted: Accepted;
  /** The first answer to the same key and body; nothing was done. */
  replayed: boolean;
}

/** A client's key and the body that it stands for. */
type RepeatKey = Pick<KeyRecord, 'owner' | 'key' | 'digest'>;

/**
 * Takes a scan: once this returns, the scan is on the disk and in the queue, and survives a kill.
 * @param user id of the client's token
 * @param idempotencyKey of the same user and within 24 h, the same one with the same body gives the same scan
 * @throws PortolanError `invalid_request`, `conflict`, `queue_full`, `insufficient_storage`
 */
export async function submitScan(
  context: SubmitContext,
  submission: Submission,
  user: string | null,
  idempotencyKey: string | null = null,
): Promise<Submitted> {
  const key = idempotencyKey === null ? null : repeatKey(user, idempotencyKey, submission);
  const { store } = context;
  const earlier = key && (await findKey(store, key));
  // Before anything is decided: what the first submission was given holds, also if it would be refused today.
  if (earlier && earlier.digest === key?.digest) return replay(earlier);
  const request = decide(context, submission, user);
  const known = await store.transaction((inside) => admit(context, inside, key));
  if (known) return replay(known);
  return await storeRequest(context, request, key);
}

/** The order of members and the spaces between them make no other body. */
function repeatKey(user: string | null, key: string, submission: Submission): RepeatKey {
  const text = JSON.stringify(submission, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return { owner: user ?? '', key, digest: createHash('sha256').update(text).digest('hex') };
}

async function findKey(store: Store, { owner, key }: RepeatKey): Promise<KeyRecord | null> {
  return await store.idempotency.find(owner, key, Date.now());
}

function replay({ scan_id, created_at }: KeyRecord): Submitted {
  return { accepted: { scan_id, status: 'queued', created_at }, replayed: true };
}

/**
 * Decides in one transaction whether this is a repetition and, if not, whether there is room.
 * @returns the first submission with this key and body
 */
async function admit(
  context: SubmitContext,
  inside: Store,
  key: RepeatKey | null,
): Promise<KeyRecord | null> {
  const earlier = key && (await findKey(inside, key));
  if (earlier === null) await checkRoom(context, inside);
  else if (earlier.digest !== key?.digest) {
    throw new PortolanError('conflict', 'This Idempotency-Key was used with another body in the last 24 h.');
  }
  return earlier;
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

async function storeRequest(
  context: SubmitContext,
  first: ScanRequest,
  key: RepeatKey | null,
): Promise<Submitted> {
  const request = await createFolder(context, first);
  const { scan_id, created_at, pool } = request;
  const { store, workspace, queue } = context;
  const folder = workspace.scan(scan_id);
  try {
    const earlier = await store.transaction(async (inside) => {
      // Others may have come between the first look, which spares a full queue the writing, and this one.
      const known = await admit(context, inside, key);
      if (known) return known;
      await inside.scans.insert(request);
      await queue.enqueue(inside, scan_id, pool);
      if (key) await inside.idempotency.insert({ ...key, scan_id, created_at }, Date.now());
      return null;
    });
    if (earlier) {
      await folder.remove();
      return replay(earlier);
    }
  } catch (error) {
    await folder.remove();
    throw error;
  }
  context.wake();
  return { accepted: { scan_id, status: 'queued', created_at }, replayed: false };
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
