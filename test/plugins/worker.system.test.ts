import { writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { Home } from '../cli/command.ts';
import { postgresObstacle } from '../postgres.ts';
import { Lab } from '../workers/cluster.ts';
import { findingsOf, noteTitles, type Result } from './noting-plugin.ts';

const home = new Home();
afterAll(() => home.remove());

describe.skipIf(postgresObstacle() !== null)('a worker', () => {
  it('takes the package of a shard from the database', async () => {
    const lab = await Lab.open(['127.86.17.1'], 3);
    try {
      const file = home.file('shared.mjs');
      writeFileSync(file, noteTitles('2.0.0'));
      const cluster = await lab.cluster({}, ['--plugin', file]);
      await cluster.worker();
      const scanId = await cluster.server.submit({
        targets: ['127.86.17.1'],
        ports: lab.field.ports,
        pool: 'lab',
        dag: 'port-scan',
        options: { discover: false },
      });
      const scan = await cluster.server.waitForEnd(scanId);
      expect(scan.status).toBe('completed');
      const { body } = await cluster.server.request(`/api/v1/scans/${scanId}/results`);
      const findings = findingsOf((body as { data: Result }).data);
      expect(findings.map(({ evidence }) => evidence)).toEqual(Array(3).fill('version 2.0.0'));
    } finally {
      await lab.dispose();
    }
  });
});
