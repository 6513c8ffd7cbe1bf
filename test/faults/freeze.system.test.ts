import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../cli/command.ts';
import { type ScanDetail, ServerProcess } from '../program.ts';
import { TargetField } from './target-field.ts';

/** Longer than any test, and soon over, milliseconds. */
const longFreeze = 3_600_000;
const shortFreeze = 2500;

const hosts = Array.from({ length: 8 }, (_, index) => `127.84.0.${index + 1}`);
const home = new Home();
const server = new ServerProcess();
let field: TargetField;
beforeAll(async () => {
  // Half of a host's ports would make it answer everything; 40 stay below that.
  field = await TargetField.open(hosts, 40);
  await server.start();
});
afterAll(async () => {
  await server.dispose();
  home.remove();
  field?.close();
});

/** From now on no scan may send, for so many milliseconds. */
function freezeFor(ms: number): void {
  const now = Date.now();
  const [from, to] = [now - 1000, now + ms].map((time) => new Date(time).toISOString());
  writeFileSync(
    join(server.workspace, 'config', 'portolan.yaml'),
    `scanner:\n  freeze:\n    - from: ${from}\n      to: ${to}\n      reason: stock taking\n`,
  );
  process.kill(server.pid, 'SIGHUP');
}

describe('a freeze', () => {
  it('silences a running scan within a second, over a kill -9 of the server, and lets it go on by itself', async () => {
    const submission = { targets: ['127.84.0.1-8'], ports: field.ports, rate: 60, dag: 'port-scan' };
    const scanId = await server.submit({ ...submission, options: { timeout: '600ms', retries: 0 } });
    await expect.poll(() => field.since(0, '127.84.0.').length).toBeGreaterThan(10);
    freezeFor(longFreeze);
    await expect
      .poll(async () => (await server.detail(scanId)).warnings.map(({ code }) => code), { interval: 50 })
      .toEqual(['outside_window']);
    const waiting = await server.submit({
      targets: ['127.84.0.1'],
      ports: [field.ports[0]],
      dag: 'port-scan',
    });
    expect(await field.afterStop('127.84.0.')).toEqual([]);
    const { length } = field.contacts;
    await server.stop('SIGKILL');
    await server.start();

    const detail = await server.detail(scanId);
    expect(detail).toMatchObject({ status: 'running', progress: { paused: true, phase: 'outside_window' } });
    const { status, body } = await server.request(`/api/v1/scans/${scanId}/resume`, { method: 'POST' });
    expect([status, (body as { error: { code: string } }).error.code]).toEqual([409, 'conflict']);
    const shown = await home.run(['scan', 'status', scanId, '--workspace-dir', server.workspace]);
    expect(shown.stdout).toMatch(
      /warning +The scan is waiting: a freeze is active: stock taking; scans resume at /,
    );
    await field.settled();
    expect(field.contacts.slice(length)).toEqual([]);

    freezeFor(shortFreeze);
    const ended = await ending(scanId);
    expect(ended).toMatchObject({ status: 'completed', results: { open_ports: hosts.length * 40 } });
    expect(ended.warnings.map(({ code }) => code)).not.toContain('outside_window');
    expect((await ending(waiting)).status).toBe('completed');
  });
});

async function ending(scanId: string): Promise<ScanDetail> {
  for (const end = performance.now() + 60_000; ; ) {
    const scan = await server.detail(scanId);
    if (scan.status === 'completed' || scan.status === 'failed') return scan;
    if (performance.now() > end) throw new Error(`the scan is ${JSON.stringify(scan.progress)}`);
    await sleep(100);
  }
}
