import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasLastMigration, heartbeatOf, undoLastMigration } from '../older-store.ts';
import { postgresObstacle, runStatements, startPostgres, type TestPostgres } from '../postgres.ts';
import { ServerProcess } from '../program.ts';

const skip = postgresObstacle();
const otherServer = 'bbbbbbbbbbbbbbbb';

describe.skipIf(skip !== null)(`server start on a shared database${skip ? ` (${skip})` : ''}`, () => {
  let postgres: TestPostgres;
  let url: string;
  let server: ServerProcess;

  beforeAll(async () => {
    postgres = await startPostgres({ fsync: 'off' });
    url = await postgres.database();
    server = new ServerProcess({ env: { SERVICE_QUEUE__URL: url } });
  }, 60_000);
  afterAll(async () => {
    await server?.dispose();
    await postgres?.remove();
  });

  it('exits with 3 beside a live server of another major version, names it and migrates nothing until it is silent', async () => {
    await server.start();
    expect(await server.stop()).toBe(0);
    await runStatements(url, [...undoLastMigration, heartbeatOf(otherServer, '9.4.1', 0)]);
    await expect(server.start()).rejects.toThrow(
      new RegExp(`ended with 3:[^]*portolan 9\\.4\\.1 at http://h-${otherServer}:8080`),
    );
    expect(await hasLastMigration(url)).toBe(false);
    await runStatements(url, [
      `update portolan.servers set last_seen = last_seen - 3600000 where server_id = '${otherServer}'`,
    ]);
    await server.start();
    expect(await hasLastMigration(url)).toBe(true);
  }, 60_000);
});
