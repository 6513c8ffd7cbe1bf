import { readdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../cli/command.ts';
import { type Pick, random } from '../fuzz/mutate.ts';
import { ServerProcess } from '../program.ts';
import { isLongRun, rounds } from '../rounds.ts';

const kills = rounds(60, 8);
/** Clients of each kind. */
const submitters = 2;
const deleters = 2;
/** A kill comes so long after its round began, at the most, milliseconds. */
const longestRoundMs = 600;
/** Every second kill comes within a deletion: it is waited for so long, and lasts about so long, milliseconds. */
const patienceMs = 2000;
const longestDeletionMs = 20;
/** The server removes folders of interrupted submissions some 10 s after its start. */
const removalMs = 40_000;

/** Another one each time; to repeat a run, put its number here. */
const seed = Math.floor(Math.random() * 2 ** 31);

const home = new Home();
const server = new ServerProcess({
  env: { SERVICE_SERVER__WORKERS: '2', SERVICE_SCANNER__MAX_RESUMES: '1000' },
});
let listener: Server;
let submission: Record<string, unknown>;

beforeAll(async () => {
  listener = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as { port: number };
  const options = { discover: false, retries: 0 };
  submission = { targets: ['127.0.0.1'], ports: [port], dag: 'port-scan', options };
});
afterAll(async () => {
  await server.dispose();
  listener.close();
  home.remove();
});

/** What the clients know of their scans. */
const known = {
  /** Acknowledged, and nobody has asked to delete them. */
  submitted: new Set<string>(),
  deleted: new Set<string>(),
  /** Their deletion was not acknowledged: it is finished or undone. */
  undecided: new Set<string>(),
};

/** A client that goes on until the server is killed. @returns any other error, or null */
async function untilKilled(act: () => Promise<void>, pick: Pick, killed: AbortSignal): Promise<unknown> {
  while (!killed.aborted) {
    await sleep(pick(160));
    try {
      await act();
    } catch (error) {
      // That is how `fetch` fails, whether it was cut off before the response or within it.
      return error instanceof TypeError ? null : error;
    }
  }
  return null;
}

async function submit(): Promise<void> {
  known.submitted.add(await server.submit(submission));
}

/** Called when one begins. */
let onDeletion = () => undefined as void;

/** Deletes the oldest scan that nobody deletes yet: most are finished, some are not. */
async function deleteOne(): Promise<void> {
  const [scanId] = known.submitted;
  if (scanId === undefined) return;
  known.submitted.delete(scanId);
  known.undecided.add(scanId);
  onDeletion();
  const { status } = await server.request(`/api/v1/scans/${scanId}`, { method: 'DELETE' });
  expect(status).toBe(200);
  known.undecided.delete(scanId);
  known.deleted.add(scanId);
}

/** A moment within a deletion: alone by chance a kill would seldom hit one. */
async function untilInDeletion(pick: Pick): Promise<void> {
  const begun = new Promise<void>((resolve) => {
    onDeletion = resolve;
  });
  await Promise.race([begun, sleep(patienceMs)]);
  await sleep(pick(longestDeletionMs));
}

async function listed(): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await server.request(`/api/v1/scans?limit=100${query}`);
    expect(status).toBe(200);
    const { scans, next_cursor } = (
      body as { data: { scans: { scan_id: string }[]; next_cursor: string | null } }
    ).data;
    for (const { scan_id } of scans) ids.add(scan_id);
    cursor = next_cursor ?? null;
  }
  return ids;
}

async function folders(): Promise<Set<string>> {
  return new Set(await readdir(join(server.workspace, 'scans')));
}

/** Entries of folders that no listed scan has. */
async function unlistedEntries(): Promise<string[]> {
  const ids = await listed();
  const unlisted = [...(await folders())].filter((name) => !ids.has(name));
  const entries = await Promise.all(unlisted.map(entriesOf));
  return entries.flatMap((names) => names ?? []);
}

/** A folder and what is in it; null when it has been removed meanwhile. */
async function entriesOf(name: string): Promise<string | null> {
  try {
    return [name, ...(await readdir(join(server.workspace, 'scans', name)))].join(' ');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** @returns interrupted deletions that turned out to be finished */
async function expectConsistent(): Promise<number> {
  const ids = await listed();
  const onDisk = await folders();
  expect(
    [...known.submitted].filter((id) => !ids.has(id)),
    'acknowledged and lost',
  ).toEqual([]);
  expect(
    [...known.deleted].filter((id) => ids.has(id)),
    'deleted and listed',
  ).toEqual([]);
  expect(
    [...ids].filter((id) => !onDisk.has(id)),
    'listed without a folder',
  ).toEqual([]);
  // What a submission writes before it is listed goes later.
  const isSubmission = /^\S+( request\.json(\.[0-9a-f]{12}\.tmp)?| reports)*$/;
  const others = (await unlistedEntries()).filter(
    (entries) => entries.startsWith('.') || !isSubmission.test(entries),
  );
  expect(others, 'a folder without a scan').toEqual([]);
  const finished = [...known.undecided].filter((id) => !ids.has(id));
  for (const id of known.undecided) (ids.has(id) ? known.submitted : known.deleted).add(id);
  known.undecided.clear();
  return finished.length;
}

describe('kill -9', () => {
  it(
    `of the server, ${kills} times while scans are submitted and deleted, leaves no half (seed ${seed})`,
    async () => {
      const pick = random(seed);
      let finished = 0;
      let cutOff = 0;
      for (let kill = 0; kill < kills; kill++) {
        await server.start();
        finished += await expectConsistent();
        const killed = new AbortController();
        const clients = [
          ...Array.from({ length: submitters }, () => untilKilled(submit, pick, killed.signal)),
          ...Array.from({ length: deleters }, () => untilKilled(deleteOne, pick, killed.signal)),
        ];
        await sleep(100 + pick(longestRoundMs));
        if (kill % 2 === 1) await untilInDeletion(pick);
        await server.stop('SIGKILL');
        killed.abort();
        for (const error of await Promise.all(clients)) if (error !== null) throw error;
        cutOff += known.undecided.size;
      }
      await server.start();
      finished += await expectConsistent();
      // On a slow machine no deletion may have been acknowledged before the kill.
      if (known.deleted.size === 0) await deleteOne();
      const leftAtFirst = (await unlistedEntries()).length;
      const giveUpAt = performance.now() + removalMs;
      while ((await unlistedEntries()).length > 0 && performance.now() < giveUpAt) await sleep(200);
      expect(await unlistedEntries()).toEqual([]);
      console.log(
        `seed ${seed}: ${kills} kills, ${known.submitted.size} scans left, ${known.deleted.size} deleted; of ${cutOff} ` +
          `interrupted deletions ${finished} were finished; ${leftAtFirst} folders of interrupted submissions removed`,
      );
      expect(known.deleted.size).toBeGreaterThan(0);
      await server.stop();
      const { code, stdout } = await home.run(['--workspace-dir', server.workspace, 'workspace', 'check']);
      expect(stdout).toContain('no problems');
      expect(code).toBe(0);
    },
    isLongRun ? 900_000 : 240_000,
  );
});
