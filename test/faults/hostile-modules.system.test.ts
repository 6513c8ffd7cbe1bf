import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isFinal } from '../../src/domain/scan.ts';
import { openService, type Service } from '../../src/server/fixtures/service.ts';
import { childrenOf, isAlive } from '../program.ts';
import { TargetField } from './target-field.ts';

const folder = mkdtempSync(join(tmpdir(), 'portolan-hostile-'));
const logFile = join(folder, 'log');
let field: TargetField;
let service: Service;

beforeAll(async () => {
  field = await TargetField.open(['127.86.0.1'], 20);
  writeFileSync(logFile, '');
  process.env['PORTOLAN_HOSTILE_LOG'] = logFile;
  process.env['PORTOLAN_HOSTILE_PORTS'] = JSON.stringify(field.ports);
  const entryFile = fileURLToPath(new URL('hostile-program.ts', import.meta.url));
  service = await openService({}, { working: true, entryFile });
});
afterAll(async () => {
  await service?.close();
  field?.close();
  rmSync(folder, { recursive: true, force: true });
});

const submit = (graph: { dag: string } | { profile: string }) =>
  service.submit('hostile', { targets: ['127.86.0.1'], rate: 200, ...graph });
const scanProcesses = () =>
  childrenOf(process.pid).filter((pid) => commandOf(pid).includes('hostile-program'));

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

it('an error outside of any promise fails its node, once, and nothing else', async () => {
  const scanId = await submit({ dag: 'port-scan' });
  const scan = await service.until(scanId, ({ status }) => isFinal(status));
  expect(scan).toMatchObject({ status: 'completed', progress: { resumes: 0 } });
  const stages = scan.stages.map(({ instance_id, status, error }) => [instance_id, status, error]);
  expect(stages).toEqual([
    ['at_once', 'failed', 'at once'],
    ['in_timer', 'failed', 'uncaught error: in a timer'],
    ['after_end', 'failed', 'uncaught error: after the end'],
    ['emitter', 'failed', 'uncaught error: emitted'],
    ['decent', 'completed', null],
  ]);
  const records = readFileSync(logFile, 'utf8').trim().split('\n');
  const parsed = records.map((line) => JSON.parse(line) as { level: string; node?: string });
  const nodes = parsed.filter(({ level }) => level !== 'debug').map(({ node }) => node);
  expect(nodes.toSorted()).toEqual(['after_end', 'at_once', 'emitter', 'in_timer']);
});

it('a module that ignores a cancel is silenced at once, and its worker goes', async () => {
  const scanId = await submit({ profile: 'standard' });
  await expect.poll(() => field.contacts.length).toBeGreaterThan(20);
  const workers = scanProcesses();
  const answer = await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
  expect(answer.json().data).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
  expect(await field.afterStop()).toEqual([]);
  await expect.poll(() => workers.filter(isAlive)).toEqual([]);
  expect(field.open).toBe(0);
});

it('a module that never gives the processor back is ended by force', async () => {
  const blocked = () => readFileSync(logFile, 'utf8').split('blocks from now on').length;
  const before = blocked();
  const scanId = await submit({ profile: 'quick' });
  await service.until(scanId, ({ status }) => status === 'running');
  await expect.poll(blocked).toBe(before + 1);
  const workers = scanProcesses();
  expect(workers).toHaveLength(1);
  expect((await service.store.scans.get(scanId))?.status).toBe('running');
  const answer = await service.app.inject({ method: 'POST', url: `/api/v1/scans/${scanId}/cancel` });
  expect(answer.json().data).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
  expect(workers.filter(isAlive)).toEqual([]);
});
