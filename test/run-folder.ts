import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sharedServerVariable, startPostgres, storeTemplate, type TestPostgres } from './postgres.ts';

const folderVariable = 'PORTOLAN_TEST_FOLDER';
const teardownMs = 5000;

/** What holds up no commit and does no work that a test has not asked for. */
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  jit: 'off',
  max_connections: '400',
  // Its data may lie in memory.
  max_wal_size: '128MB',
  min_wal_size: '32MB',
};

/**
 * Before the tests of a run: a folder for what they share, and a socket that gives the port of a PostgreSQL server. The first test
 * that asks has it started, in vitest's main process, with whose end it ends. @returns what removes all that
 */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Each project of a run calls this.
  if (process.env[sharedServerVariable] !== undefined) return undefined;
  const folder = process.env[folderVariable] ?? ownFolder();
  let starting: Promise<TestPostgres> | null = null;
  const socket = createServer((client) => {
    client.on('error', () => undefined);
    starting ??= startShared();
    starting.then(
      ({ port }) => client.end(String(port)),
      (error: unknown) => client.end(String(error)),
    );
  });
  const place = join(folder, 'postgres.sock');
  process.env[sharedServerVariable] = place;
  await new Promise<void>((resolve, reject) => socket.once('error', reject).listen(place, resolve));
  return async () => {
    delete process.env[sharedServerVariable];
    socket.close();
    const removed = starting?.then((server) => server.remove()).catch(() => undefined);
    // Vitest waits for ten seconds; whatever is left then ends with this process.
    await Promise.race([removed, sleep(teardownMs, undefined, { ref: false })]);
  };
}

/** Of a run that test/run.ts did not start; gone with this process, also when that is interrupted. */
function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-test-'));
  process.env[folderVariable] = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function startShared(): Promise<TestPostgres> {
  const server = await startPostgres(settings);
  // Loaded only here: most runs of single files need no database.
  const [{ openStore }, { Dispatcher }] = await Promise.all([
    import('../src/store/open.ts'),
    import('../src/queue/dispatcher.ts'),
  ]);
  const url = await server.database(storeTemplate);
  const store = await openStore(url);
  const dispatcher = await Dispatcher.start(url, (error) => {
    throw error;
  });
  await dispatcher.close();
  await store.close();
  return server;
}
