import { beforeEach, describe, expect, it } from 'vitest';
import {
  beforeFieldNames,
  createOlderDatabase,
  hasFieldNames,
  heartbeatOf,
  workerHeartbeatOf,
} from '../../../test/older-store.ts';
import { emptyDatabase, postgresObstacle, runStatements, storeDatabase } from '../../../test/postgres.ts';
import { openStore, type Store } from '../open.ts';
import { programVersion } from './other-versions.ts';

const skip = postgresObstacle();
const own = 'aaaaaaaaaaaaaaa';
const other = 'bbbbbbbbbbbbbbb';
const version = programVersion();

describe.skipIf(skip !== null)(`a store that servers share${skip ? ` (${skip})` : ''}`, () => {
  let url: string;

  const start = () => openStore(url, own, true);
  const opens = async (opening: Promise<Store>): Promise<void> => {
    await (await opening).close();
  };
  async function rejectsEverybody(name: string): Promise<void> {
    const rejection = { code: 'configuration', message: expect.stringContaining(name) };
    await expect(start()).rejects.toMatchObject(rejection);
    await expect(openStore(url)).rejects.toMatchObject(rejection);
    await expect(openStore(url, own)).rejects.toMatchObject(rejection);
    expect(await hasFieldNames(url)).toBe(false);
  }

  describe('with the tables of an older version', () => {
    beforeEach(async () => {
      url = await emptyDatabase();
      await createOlderDatabase(url, beforeFieldNames);
    });

    it.each(['9.4.1', version])('is not migrated while a server of version %s is alive', async (alive) => {
      await runStatements(url, [heartbeatOf(other, alive, 50)]);
      await rejectsEverybody(`portolan ${alive} at http://h-${other}:8080`);
    });

    it('is not migrated while a worker is alive, whose version is that of the program', async () => {
      await runStatements(url, [workerHeartbeatOf('h:7:0a', version, 50)]);
      await rejectsEverybody(`worker h:7:0a of portolan ${version}`);
    });

    it('is not migrated while a worker of another server is alive', async () => {
      await runStatements(url, [workerHeartbeatOf(`${other}:h:7:0a`, version, 50)]);
      await rejectsEverybody(`worker ${other}:h:7:0a`);
    });

    it('is migrated a minute after the last heartbeats; those of the server that starts do not count', async () => {
      await runStatements(url, [
        heartbeatOf(other, version, 61),
        workerHeartbeatOf('h:7:0a', version, 61),
        heartbeatOf(own, version, 1),
        workerHeartbeatOf(`${own}:h:7:0a`, version, 1),
      ]);
      await expect(openStore(url, own)).rejects.toMatchObject({ code: 'configuration' });
      await opens(start());
      expect(await hasFieldNames(url)).toBe(true);
    });
  });

  describe('with the tables of this version', () => {
    beforeEach(async () => {
      url = await storeDatabase();
    });

    it('opens beside servers and workers of this version', async () => {
      await runStatements(url, [heartbeatOf(other, version, 1), workerHeartbeatOf('h:7:0a', version, 1)]);
      await opens(start());
      await opens(openStore(url));
    });

    it('lets no server start beside one of another major version; its own last heartbeat does not count', async () => {
      await runStatements(url, [heartbeatOf(own, '9.4.1', 1)]);
      await opens(start());
      await runStatements(url, [heartbeatOf(other, '9.4.1', 1)]);
      await expect(start()).rejects.toMatchObject({ code: 'configuration' });
      // No migration is pending.
      await opens(openStore(url));
    });
  });
});
