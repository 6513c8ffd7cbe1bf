import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { scanRequest } from '../domain/fixtures/scan-request.ts';
import type { SummaryRow } from '../domain/result.ts';
import type { ScanRequest } from '../domain/scan.ts';
import { GraphLibrary } from '../engine/graph/graph-library.ts';
import { type DataContext, defineModule, type ExecContext, type ModuleDefinition } from '../engine/module.ts';
import { Registry } from '../engine/registry.ts';
import html_reporter from '../modules/reporter/html_reporter.ts';
import json_reporter from '../modules/reporter/json_reporter.ts';
import jsonl_reporter from '../modules/reporter/jsonl_reporter.ts';
import { type RunTime, readRunTime, writeCheckpoint } from '../workspace/record/checkpoint.ts';
import { recordIn } from '../workspace/record/folder-record.ts';
import { ScanFolder } from '../workspace/scan-folder.ts';
import { ScanControl } from './control.ts';
import { ScanAbort } from './finalize/failure.ts';
import type { ScanOutcome } from './messages.ts';
import { runScan } from './run-scan.ts';

let dir: string;
let config: Config;
let scans = 0;
/** Cancels the scan that runs. */
let cancel: () => void;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'portolan-run-'));
  config = loadConfig({ env: { HOME: '/none' }, systemFile: '/none/config.yaml' }).config;
});
afterEach(() => vi.useRealTimers());
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const graph = `
nodes:
  - { instance_id: work, module_type: test_scanner }
  - { instance_id: json, module_type: json_reporter, depends_on: [work] }
  - { instance_id: jsonl, module_type: jsonl_reporter, depends_on: [work] }
  - { instance_id: html, module_type: html_reporter, depends_on: [work] }
  - { instance_id: last, module_type: test_reporter, depends_on: [work] }
`;

interface Steps {
  work: (ctx: ExecContext, folder: ScanFolder, data: DataContext) => Promise<void>;
  /** What an earlier run left, and when that one began. */
  earlier?: { time?: RunTime; startedAt: string; unsent?: Map<string, number> };
  report?: (folder: ScanFolder) => Promise<void>;
  control?: ScanControl;
  /** Over the definition of the scanner. */
  scanner?: Partial<ModuleDefinition>;
}

interface Ended {
  outcome: ScanOutcome;
  folder: ScanFolder;
  record: SummaryRow | null;
}

/** Runs a scan whose scanner and last reporter are functions of the test, and reads back what it left. */
async function run(
  { work, report, control, earlier, scanner }: Steps,
  more: Partial<ScanRequest> = {},
): Promise<Ended> {
  const folder = new ScanFolder(join(dir, `scan-${++scans}`));
  const registry = new Registry();
  const module = (
    type: 'scanner' | 'reporter',
    execute: (ctx: ExecContext, data: DataContext) => Promise<void>,
  ) =>
    defineModule({
      name: `test_${type}`,
      type,
      version: '1.0.0',
      description: 'Does what the test says.',
      options: {},
      requires: [],
      provides: type === 'scanner' ? ['test_notes'] : [],
      execute,
    });
  const definitions = [
    { ...module('scanner', (ctx, data) => work(ctx, folder, data)), ...scanner },
    module('reporter', async () => report?.(folder)),
    json_reporter,
    jsonl_reporter,
    html_reporter,
  ];
  for (const definition of definitions) registry.register(definition, 'test');
  const request = scanRequest({ targets: ['127.0.0.1'], dag: 'test', graph, ...more });
  await folder.create(request);
  if (earlier) await writeCheckpoint(folder, {}, earlier.time, earlier.unsent);
  const abort = new AbortController();
  cancel = () => abort.abort(new ScanAbort('canceled', 'the scan was canceled'));
  const silent = () => undefined;
  const outcome = await runScan({
    request,
    config,
    catalogue: { registry, library: new GraphLibrary() },
    folder,
    startedAt: earlier?.startedAt ?? new Date().toISOString(),
    resumes: earlier ? 1 : 0,
    signal: abort.signal,
    ...(control && { control }),
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
  return { outcome, folder, record: await recordIn(folder).summary() };
}

function reportsOf({ reportsDir }: ScanFolder) {
  const text = (name: string) => readFileSync(join(reportsDir, name), 'utf8');
  const standing = ({ status, partial }: { status: string; partial: boolean }) => ({ status, partial });
  return {
    json: standing(JSON.parse(text('results.json'))),
    jsonl: standing(JSON.parse(text('results.jsonl').trim().split('\n').at(-1) ?? '')),
    html: text('results.html'),
  };
}

const untilAborted = ({ signal }: ExecContext): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
const failed = { status: 'failed', partial: true };
const completed = { status: 'completed', partial: false };

it.each([
  ['was canceled', 'canceled', 'Canceled', {}],
  ['reached max_duration', 'timeout', 'Timed out', { options: { max_duration: '50ms' } }],
  ['lost its only stage', 'pipeline_failed', 'Failed', {}],
])('the reports of a scan that %s say what the record says', async (_, code, word, more) => {
  const work = async (ctx: ExecContext) => {
    if (code === 'canceled') cancel();
    if (code === 'pipeline_failed') throw new Error('broken');
    await untilAborted(ctx);
  };
  const { outcome, folder, record } = await run({ work }, more);
  expect([outcome.error?.code, record]).toMatchObject([code, failed]);
  const { json, jsonl, html } = reportsOf(folder);
  expect({ json, jsonl }).toEqual({ json: failed, jsonl: failed });
  expect(html).toContain(`${word}. Partial results.`);
  if (code !== 'canceled') expect(html).toContain(outcome.error?.message.replace(/\.$/, ''));
});

it('a cancel that comes while the reporters run changes neither record nor reports', async () => {
  const { outcome, folder, record } = await run({ work: async () => {}, report: async () => cancel() });
  expect([outcome, record]).toMatchObject([{ status: 'completed', error: null }, completed]);
  const { json, jsonl, html } = reportsOf(folder);
  expect({ json, jsonl }).toEqual({ json: completed, jsonl: completed });
  expect(html).not.toContain('Partial results');
});

it('a cancel of a paused scan reaches its reports, even when nothing was left to do', async () => {
  const control = new ScanControl({ rate: 100, mostRate: 100 });
  const work = async () => {
    control.hold.hold();
    setTimeout(() => cancel(), 20);
  };
  const { outcome, folder, record } = await run({ work, control });
  expect([outcome.error?.code, record, reportsOf(folder).json]).toMatchObject(['canceled', failed, failed]);
});

it('no report stays of a scan whose record cannot be finished', async () => {
  const report = async ({ path }: ScanFolder) => void mkdirSync(join(path, 'results.jsonl.new'));
  const { outcome, folder, record } = await run({ work: async () => {}, report });
  expect([outcome.status, record]).toEqual(['failed', null]);
  expect(readdirSync(folder.reportsDir)).toEqual([]);
});

it.each(['completed', 'failed'])(
  'a plugin is prepared and released once in a scan that %s',
  async (status) => {
    const calls: string[] = [];
    const note = (call: string) => void calls.push(call);
    const scanner: Partial<ModuleDefinition> = {
      producer: { name: 'test_scanner', version: '1.0.0', sha256: 'ab'.repeat(32) },
      prepare: (_, addresses) => note(`prepare ${addresses.size}`),
      endScan: async () => note('end'),
    };
    const work = async () => {
      note('execute');
      if (status === 'failed') cancel();
    };
    expect((await run({ work, scanner })).outcome.status).toBe(status);
    expect(calls).toEqual(['prepare 1', 'execute', 'end']);
  },
);

it('results of a plugin name it in the record and its reports, values under its own key too', async () => {
  const producer = { name: 'my_plugin', version: '1.0.0', sha256: 'ab'.repeat(32) };
  const scanner = { producer, provides: ['open_ports', 'vulnerabilities', 'test_notes'] };
  const work = async (_: ExecContext, __: ScanFolder, data: DataContext) => {
    const place = { host: '127.0.0.1', port: 22 };
    await data.append('open_ports', place);
    await data.append('vulnerabilities', { ...place, id: 'x-1', title: 'A title', severity: 'high' });
    await data.append<unknown>('test_notes', { ...place, note: 1 }, { host: '127.0.0.2' }, 'text');
  };
  const { outcome, folder } = await run({ work, scanner });
  expect([outcome.status, outcome.results.vulnerabilities]).toEqual(['completed', 1]);
  expect(outcome.warnings.map(({ code }) => code)).toContain('result_out_of_scope');
  const data = JSON.parse(readFileSync(join(folder.reportsDir, 'results.json'), 'utf8'));
  expect(data.extra).toEqual({
    test_notes: [
      { host: '127.0.0.1', port: 22, value: { host: '127.0.0.1', port: 22, note: 1 }, producer },
      { host: null, value: 'text', producer },
    ],
  });
  const finding = { id: 'x-1', plugin: 'test_scanner', class: 'likely', producer };
  expect(data.results).toMatchObject([
    { producer, ports: [{ port: 22, producer, vulnerabilities: [finding] }] },
  ]);
  expect(reportsOf(folder).html).toContain('my_plugin@1.0.0');
});

it('a builtin module prepares nothing in the process of a scan', async () => {
  const calls: string[] = [];
  const scanner = { prepare: () => void calls.push('prepare') };
  await run({ work: async () => {}, scanner });
  expect(calls).toEqual([]);
});

const day = 24 * 3600_000;

it.each([-1, 1])(
  'a clock set by %i days changes no duration, and no end comes before its start',
  async (days) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const startedAt = new Date().toISOString();
    const work = async () => void vi.setSystemTime(Date.now() + days * day);
    const { outcome, record, folder } = await run({ work });
    expect(record?.duration_seconds).toBeLessThan(3600);
    expect(
      [outcome.completed_at, record?.timestamp].every((end) => end !== undefined && end >= startedAt),
    ).toBe(true);
    const status = JSON.parse(readFileSync(join(folder.path, 'status.json'), 'utf8'));
    expect(status.duration_seconds).toBeLessThan(3600);
    expect(status.stages.work.duration).toBeLessThan(3600);
    expect(outcome.stages.every((stage) => (stage.completed_at ?? '') >= (stage.started_at ?? ''))).toBe(
      true,
    );
  },
);

it('a resumed scan has run for as long as all its runs together, and its limit counts the same', async () => {
  const startedAt = new Date(Date.now() - day).toISOString();
  const earlier = { startedAt, time: { elapsed_ms: 50_000, paused_ms: 30_000 } };
  const { outcome, record } = await run(
    { work: async () => {}, earlier },
    { options: { max_duration: '1m' } },
  );
  expect([outcome.status, outcome.error]).toEqual(['completed', null]);
  expect(record?.duration_seconds).toBeGreaterThanOrEqual(50);
  expect(record?.duration_seconds).toBeLessThan(3600);
});

it('a run without elapsed time in its checkpoint counts wall-clock time', async () => {
  const startedAt = new Date(Date.now() - day).toISOString();
  const { record } = await run({ work: async () => {}, earlier: { startedAt } });
  expect(record?.duration_seconds).toBeGreaterThanOrEqual(day / 1000);
});

it('a checkpoint records elapsed and paused time', async () => {
  const control = new ScanControl({ rate: 100, mostRate: 100 });
  const earlier = { startedAt: new Date().toISOString(), time: { elapsed_ms: 7000, paused_ms: 5000 } };
  const work = async (_: ExecContext, folder: ScanFolder) => {
    control.hold.hold();
    const pausedMs = async () => ((await readRunTime(folder)) as RunTime).paused_ms;
    await expect.poll(pausedMs).toBeGreaterThan(5000);
    control.hold.release();
    expect(((await readRunTime(folder)) as RunTime).elapsed_ms).toBeGreaterThan(7000);
  };
  const { outcome } = await run({ work, control, earlier });
  expect(outcome.error).toBeNull();
});

it('is partial after a resume too, if an earlier run could not send something', async () => {
  const unsent = new Map([['local error ENETDOWN', 7]]);
  const { outcome, record, folder } = await run({
    work: async () => undefined,
    earlier: { startedAt: new Date().toISOString(), unsent },
  });
  expect(outcome.warnings).toEqual([
    {
      code: 'packets_not_sent',
      message: 'could not send 7 packets (local error ENETDOWN): their targets were not probed',
    },
  ]);
  expect(record).toMatchObject({ status: 'completed', partial: true });
  expect(reportsOf(folder).json).toEqual({ status: 'completed', partial: true });
});
