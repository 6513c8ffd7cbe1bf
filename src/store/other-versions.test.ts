import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { postgresObstacle, startPostgres, type TestPostgres } from '../../test/postgres.ts';
import { openStore, type Store } from './open.ts';

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

  /** A server that gave its last heartbeat so many seconds ago. */
  const seen = (id: string, version: string, seconds: number) =>
    `insert into portolan.servers (server_id, url, version, last_seen) values ('${id}', 'http://h-${id}:8080',
      '${version}', extract(epoch from clock_timestamp()) * 1000 - ${seconds * 1000})`;
  /** As an earlier version left it: its last change is not there yet. */
  const older = [
    'alter table portolan.divisions drop column begun',
    `delete from portolan.kysely_migration where name = '0013-begun-divisions'`,
  ];
  const start = () => openStore(url, own, true);
  const isMigrated = async (): Promise<boolean> => {
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(
      `select 1 from information_schema.columns where table_name = 'divisions' and column_name = 'begun'`,
    );
    await client.end();
    return rows.length === 1;
  };
  const opens = async (opening: Promise<Store>): Promise<void> => {
    await (await opening).close();
  };

  it('is not migrated, by a server or another program, while one of another major version is alive', async () => {
    await run(seen(other, '9.4.1', 50), ...older);
    const refusal = {
      code: 'configuration',
      message: expect.stringContaining(`portolan 9.4.1 at http://h-${other}:8080`),
    };
    await expect(start()).rejects.toMatchObject(refusal);
    await expect(openStore(url)).rejects.toMatchObject(refusal);
    await expect(openStore(url, other)).rejects.toMatchObject(refusal);
    expect(await isMigrated()).toBe(false);
  });

  it('is migrated once the others are gone, and under servers of the same major version', async () => {
    await run(seen(other, '9.4.1', 61), seen('cccccccccccccccc', '0.0.9', 0), ...older);
    await opens(start());
    expect(await isMigrated()).toBe(true);
  });

  it('lets no server start beside one of another major version; its own last heartbeat does not count', async () => {
    await run(seen(own, '9.4.1', 1));
    await opens(start());
    await run(seen(other, '9.4.1', 1));
    await expect(start()).rejects.toMatchObject({ code: 'configuration' });
    // Nothing would change.
    await opens(openStore(url));
  });
});
