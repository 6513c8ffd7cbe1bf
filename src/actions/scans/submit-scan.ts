import { createHash, randomBytes } from 'node:crypto';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { maxSmallAddresses, newScanId, type ScanRequest } from '../../domain/scan.ts';
import type { ScanOrigin } from '../../domain/scan-origin.ts';
import { countAddresses } from '../../domain/targets/target.ts';
import type { JobQueue } from '../../queue/queue.ts';
import type { ShardQueue } from '../../queue/shard-queue.ts';
import { checkEgress } from '../../scan-run/egress-choice.ts';
import { type DecidedRequest, decideRequest, type ScanChoices } from '../../scan-run/plan/decide-request.ts';
import { type ModuleCatalog, planScan } from '../../scan-run/plan/plan-scan.ts';
import type { Submission } from '../../scan-run/plan/submission.ts';
import type { KeyRecord } from '../../store/idempotency.ts';
import type { Store } from '../../store/open.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/**
 * Submissions of all servers that may be checked at the same time. Further from the limit of the queue than this they need not wait
 * for each other.
 */
const maxConcurrent = 256;

export interface SubmitContext {
  store: Store;
  workspace: Workspace;
  queue: JobQueue;
  config: Config;
  choices: ScanChoices;
  /** Modules and graphs for planning. */
  installed: ModuleCatalog;
  /** Notifies the workers that a scan waits. */
  wake(): void;
  /** The shared clock of schedules if servers share a database; otherwise that of this machine. */
  shards?: { line: Pick<ShardQueue, 'now'> } | null;
  /** The request that the scan comes from. */
  origin?: ScanOrigin;
  /** What its body had and the schema has not. */
  unknownFields?: readonly string[];
  /** Of a scan that belongs to a job. */
  companion?: ScanCompanion;
}

/** Decided and stored atomically with a scan. */
export interface ScanCompanion {
  /** The job already has a place in the queue, as it is due. */
  isDue: boolean;
  /** Called first; an exception rejects the scan. */
  admit(inside: Store): Promise<void>;
  store(inside: Store, scanId: string): Promise<void>;
}

/** Response to a submission: exactly these three fields. */
export interface Accepted {
  scan_id: string;
  status: 'queued';
  created_at: string;
}

export interface Submitted {
  accepted: Accepted;
  /** The original response to the same key and body; nothing was done. */
  replayed: boolean;
}

/** Idempotency key of a client and the body it stands for. */
export type RepeatKey = Pick<KeyRecord, 'owner' | 'key' | 'digest'>;

/**
 * Submits a scan: once this returns, the scan is on disk and in the queue, and survives a kill.
 * @param user ID of the client's token
 * @param body what the client sent, with files that the submission does not have
 * @param idempotencyKey the same key of the same user with the same body returns the same scan within 24 h
 * @throws PortolanError `invalid_request`, `license_required`, `conflict`, `queue_full`, `insufficient_storage`
 */
export async function submitScan(
  context: SubmitContext,
  submission: Submission,
  user: string | null,
  idempotencyKey: string | null = null,
  body: object = submission,
): Promise<Submitted> {
  const key = idempotencyKey === null ? null : repeatKey(user, idempotencyKey, body);
  const { store } = context;
  const earlier = key && (await findKey(store, key));
  // First of all: the response to the first submission stays valid, even if it would be rejected now.
  if (earlier && earlier.digest === key?.digest) return replay(earlier);
  const decided = await checkSubmission(context, submission, user);
  const first = await admitFirst(context, key);
  if (first.known) return replay(first.known);
  return await storeRequest(context, decided, key, first.hasRoom);
}

/** Validates a submission. @throws PortolanError `invalid_request`, `not_implemented`, `license_required` */
export async function checkSubmission(
  context: SubmitContext,
  submission: Submission,
  user: string | null,
): Promise<DecidedRequest> {
  const decided = decide(context, submission, user);
  await checkLicense(context, decided.request);
  return decided;
}

/** The plan shows which modules a scan runs. @throws PortolanError `license_required` */
async function checkLicense({ installed, config }: SubmitContext, request: ScanRequest): Promise<void> {
  if (installed.license?.enforced) await planScan(request, config, installed);
}

/** The order of members and white space do not matter. */
export function repeatKey(user: string | null, key: string, body: unknown): RepeatKey {
  const text = JSON.stringify(body, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return { owner: user ?? '', key, digest: createHash('sha256').update(text).digest('hex') };
}

export async function findKey(store: Store, { owner, key }: RepeatKey): Promise<KeyRecord | null> {
  return await store.idempotency.find(owner, key, Date.now());
}

function replay({ scan_id, created_at }: KeyRecord): Submitted {
  return { accepted: { scan_id, status: 'queued', created_at }, replayed: true };
}

/** Whether a submission is a repetition and, if not, whether the queue has room. */
interface Admission {
  /** The first submission with this key and body. */
  known: KeyRecord | null;
  /** Whether there is room for all submissions that may be checked at the same time. */
  hasRoom: boolean;
}

/** Before anything is written. */
async function admitFirst(context: SubmitContext, key: RepeatKey | null): Promise<Admission> {
  const { store, companion } = context;
  // Each of these is one answer by itself.
  if (key === null && companion === undefined)
    return { known: null, hasRoom: await checkRoom(context, store) };
  return await store.transaction((inside) => admit(context, inside, key), 'read committed');
}

async function admit(
  context: SubmitContext,
  inside: Store,
  key: RepeatKey | null,
  hasRoom = false,
): Promise<Admission> {
  await context.companion?.admit(inside);
  const known = key && (await findSame(inside, key));
  return { known, hasRoom: hasRoom || known !== null || (await checkRoom(context, inside)) };
}

/** The first submission with this key. @throws PortolanError `conflict` if it had another body */
export async function findSame(inside: Store, key: RepeatKey): Promise<KeyRecord | null> {
  const earlier = await findKey(inside, key);
  if (earlier === null || earlier.digest === key.digest) return earlier;
  throw new PortolanError('conflict', 'This Idempotency-Key was used with another body in the last 24 h.');
}

function decide(
  { config, choices, unknownFields = [] }: SubmitContext,
  submission: Submission,
  user: string | null,
): DecidedRequest {
  const createdAt = new Date();
  const decided = decideRequest(submission, config, choices, {
    scanId: newScanId(createdAt, randomBytes),
    createdAt,
    user,
    unknownFields,
  });
  checkEgress(decided.request, config);
  return decided;
}

/** @returns whether there is room for all that may be checked at the same time; else only until the end of the transaction */
async function checkRoom({ config, companion }: SubmitContext, store: Store): Promise<boolean> {
  const { max_jobs: most } = config.queue;
  const due = companion?.isDue ? 0 : await store.jobSchedules.dueCount(new Date().toISOString());
  if ((await store.scanQueue.pending()) + due < most - maxConcurrent) return true;
  await store.scanQueue.serializeInserts();
  const pending = (await store.scanQueue.pending()) + due;
  if (pending < most) return false;
  const what = due > 0 ? 'scans and jobs' : 'scans';
  throw new PortolanError(
    'queue_full',
    `The queue is full: ${pending} ${what} are waiting, the limit is queue.max_jobs.`,
    {
      pending,
      max_jobs: most,
    },
  );
}

async function storeRequest(
  context: SubmitContext,
  { request: first, targets }: DecidedRequest,
  key: RepeatKey | null,
  hasRoom: boolean,
): Promise<Submitted> {
  const request = await createFolder(context, first);
  const isSmall = countAddresses(targets) <= BigInt(maxSmallAddresses);
  const { scan_id, created_at, pool } = request;
  const { store, workspace, queue } = context;
  const folder = workspace.scan(scan_id);
  try {
    const earlier = await store.transaction(async (inside) => {
      // Others may have come between the first check, which avoids writes on a full queue, and this one.
      const { known } = await admit(context, inside, key, hasRoom);
      if (known) return known;
      await inside.scans.insert(request, undefined, context.origin);
      await queue.enqueue(inside, { scanId: scan_id, pool, isSmall });
      await context.companion?.store(inside, scan_id);
      if (key) await inside.idempotency.insert({ ...key, scan_id, created_at }, Date.now());
      return null;
    }, 'read committed');
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

/** Creating the folder claims the ID; if it is taken (24 random bits a second), another one is tried. */
async function createFolder({ store, workspace }: SubmitContext, first: ScanRequest): Promise<ScanRequest> {
  for (
    let request = first;
    ;
    request = { ...first, scan_id: newScanId(new Date(first.created_at), randomBytes) }
  ) {
    if (await store.scans.isTaken(request.scan_id)) continue;
    try {
      await workspace.scan(request.scan_id).create(request);
      return request;
    } catch (error) {
      if (!(error instanceof PortolanError && error.code === 'conflict')) throw error;
    }
  }
}
