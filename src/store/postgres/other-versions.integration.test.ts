import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasLastMigration, heartbeatOf, undoLastMigration } from '../../../test/older-store.ts';
import { postgresObstacle, startPostgres, type TestPostgres } from '../../../test/postgres.ts';
import { openStore, type Store } from '../open.ts';

const skip = postgresObstacle();
const own = 'aaaaaaaaaaaaaaaa';
const other = 'bbbbbbbbbbbbbbbb';

describe.skipIf(skip !== null)(`a store that servers share${skip ? ` (${skip})` : ''}`, () => {
  let postgres: TestPostgres;
  let url: string;

  beforeAll(async () => {
    postgres = await startPostgres({ fsync: 'off' });
  });
  afterAll(() => postgres.remove());
  beforeEach(async () => {
    url = await postgres.database();
    await (await openStore(url)).close();
  });

  async function run(...statements: string[]): Promise<void> {
    const store = await openStore(url);
    for (const statement of statements) await store.execute(statement, []);
    await store.close();
  }

  const start = () => openStore(url, own, true);
  const opens = async (opening: Promise<Store>): Promise<void> => {
    await (await opening).close();
  };

  it('is not migrated, by a server or another program, while one of another major version is alive', async () => {
    await run(heartbeatOf(other, '9.4.1', 50), ...undoLastMigration);
    const refusal = {
      code: 'configuration',
      message: expect.stringContaining(`portolan 9.4.1 at http://h-${other}:8080`),
    };
    await expect(start()).rejects.toMatchObject(refusal);
    await expect(openStore(url)).rejects.toMatchObject(refusal);
    await expect(openStore(url, other)).rejects.toMatchObject(refusal);
    expect(await hasLastMigration(url)).toBe(false);
  });

  it('is migrated once the others are gone, and under servers of the same major version', async () => {
    await run(
      heartbeatOf(other, '9.4.1', 61),
      heartbeatOf('cccccccccccccccc', '0.0.9', 0),
      ...undoLastMigration,
    );
    await opens(start());
    expect(await hasLastMigration(url)).toBe(true);
  });

  it('lets no server start beside one of another major version; its own last heartbeat does not count', async () => {
    await run(heartbeatOf(own, '9.4.1', 1));
    await opens(start());
    await run(heartbeatOf(other, '9.4.1', 1));
    await expect(start()).rejects.toMatchObject({ code: 'configuration' });
    // Nothing would change.
    await opens(openStore(url));
  });
});
