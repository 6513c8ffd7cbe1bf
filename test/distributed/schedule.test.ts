import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresObstacle, runStatements, storeDatabase } from '../postgres.ts';
import { ServerProcess } from '../program.ts';
import { until } from '../workers/cluster.ts';

describe.skipIf(postgresObstacle() !== null)('the schedule of a job', () => {
  let url: string;
  const servers: ServerProcess[] = [];

  beforeAll(async () => {
    url = await storeDatabase();
    for (let count = 0; count < 3; count++) {
      const server = new ServerProcess({ env: { SERVICE_QUEUE__URL: url } });
      await server.start();
      servers.push(server);
    }
  });
  afterAll(async () => {
    for (const server of servers) await server.dispose();
  });

  it('goes on when its server is killed: another one starts its scan, once', async () => {
    const [own, other] = servers as [ServerProcess, ServerProcess];
    const params = { targets: ['127.0.0.1'], ports: '9', options: { discover: false } };
    const { body, status } = await own.request('/api/v1/jobs', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      // In months: it is due when the test says so.
      body: JSON.stringify({ type: 'scan', schedule: '0 0 1 1 *', params }),
    });
    expect(status).toBe(201);
    const { job_id } = (body as { data: { job_id: string } }).data;
    await own.stop('SIGKILL');
    await runStatements(url, [
      `update portolan.client_jobs set next_run_at = to_char(now() at time zone 'utc' - interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS".000Z"') where job_id = '${job_id}'`,
    ]);
    const runs = async () =>
      (await other.request(`/api/v1/jobs/${job_id}`)).body as {
        data: { runs: { scan_id: string; status: string }[] };
      };
    await until('the end of its scan', async () => (await runs()).data.runs[0]?.status === 'completed');
    expect((await runs()).data.runs).toHaveLength(1);
  });
});
