import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  beforeFieldNames,
  createOlderDatabase,
  hasFieldNames,
  heartbeatOf,
  workerHeartbeatOf,
} from '../older-store.ts';
import { emptyDatabase, postgresObstacle, runStatements } from '../postgres.ts';
import { ServerProcess } from '../program.ts';
import { WorkerProcess } from './worker-process.ts';

const skip = postgresObstacle();
const otherServer = 'bbbbbbbbbbbbbbb';
const otherWorker = 'h:7:0a';

describe.skipIf(skip !== null)(
  `the start on a shared database with older tables${skip ? ` (${skip})` : ''}`,
  () => {
    let url: string;
    let server: ServerProcess;

    beforeEach(async () => {
      url = await emptyDatabase();
      await createOlderDatabase(url, beforeFieldNames);
      server = new ServerProcess({ env: { SERVICE_QUEUE__URL: url } });
    });
    afterEach(() => server.dispose());

    it.each([
      ['server of another major version', '9.4.1', 'servers'],
      ['server of the same version', '0.1.0', 'servers'],
      ['worker of the same version', '0.1.0', 'workers'],
    ] as const)(
      'of a server exits with 3 beside a live %s, names it and migrates nothing until it is silent',
      async (_, version, table) => {
        const name =
          table === 'servers'
            ? `portolan ${version} at http://h-${otherServer}:8080`
            : `worker ${otherWorker} of portolan ${version}`;
        const heartbeat =
          table === 'servers'
            ? heartbeatOf(otherServer, version, 0)
            : workerHeartbeatOf(otherWorker, version, 0);
        await runStatements(url, [heartbeat]);
        const failure = await server.start().then(
          () => '',
          (error: Error) => error.message,
        );
        expect(failure).toContain('ended with 3:');
        expect(failure).toContain(name);
        expect(await hasFieldNames(url)).toBe(false);
        await runStatements(url, [`update portolan.${table} set last_seen = last_seen - 3600000`]);
        await server.start();
        expect(await hasFieldNames(url)).toBe(true);
      },
      60_000,
    );

    it('of a worker exits with 3 beside a live server and migrates nothing', async () => {
      await runStatements(url, [heartbeatOf(otherServer, '0.1.0', 0)]);
      const worker = new WorkerProcess(['--queue', url]);
      const failure = await worker.start().then(
        () => '',
        (error: Error) => error.message,
      );
      await worker.dispose();
      expect(failure).toContain('ended with 3:');
      expect(failure).toContain(`portolan 0.1.0 at http://h-${otherServer}:8080`);
      expect(await hasFieldNames(url)).toBe(false);
    });
  },
);
