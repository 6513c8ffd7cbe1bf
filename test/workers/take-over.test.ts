import { describe, expect, it } from 'vitest';
import { postgresObstacle } from '../postgres.ts';
import { rowsOf, sweep, until } from './cluster.ts';
import { portIds, TwoServers } from './two-servers.ts';

const address = '127.86.21.1';
const portCount = 300;

describe.skipIf(postgresObstacle() !== null)('a server that is killed', () => {
  const two = new TwoServers(address, portCount);

  it('loses its scan to another one, which has every row once, and its events go on there', async () => {
    const from = performance.now();
    const scanId = await sweep(two.owner, two.lab.field, [address], 25);
    await two.begun(from, 60);
    const before = await portIds(two.owner, scanId, 0, (ids) => ids.length >= 30);
    expect(before.length).toBeGreaterThanOrEqual(30);
    await two.kill();
    const moment = performance.now();
    // The worker goes on meanwhile.
    await two.begun(moment, 20);
    await until('the other server has it', () => /taken over/.test(two.other.log));
    const after = await portIds(two.other, scanId, before.at(-1) ?? 0, () => false);
    expect(await two.other.waitForEnd(scanId)).toMatchObject({ status: 'completed', warnings: [] });
    // The first row is that of the host.
    expect([...before, ...after]).toEqual(Array.from({ length: portCount }, (_, at) => at + 2));
    const rows = (await rowsOf(two.other, scanId)).filter(({ type }) => type === 'port');
    expect(rows.map(({ host, port }) => `${host}:${port}`).sort()).toEqual(two.lab.pairs([address]));
    expect(two.lab.probedAgain(from, [address], Number.POSITIVE_INFINITY, 0)).toEqual([]);
  });
});
