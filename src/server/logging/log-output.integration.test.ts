import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { createServerLog, openLogOutput } from './log.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-log-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

function open(flags: Record<string, unknown>) {
  const { config } = loadConfig({
    env: { HOME: dir },
    systemFile: join(dir, 'none.yaml'),
    flags: { 'workspace.dir': join(dir, 'ws'), 'logging.output': 'file', ...flags },
  });
  const output = openLogOutput(config.logging, config.workspace.dir);
  return { config, output, log: createServerLog(config.logging, output) };
}

const logs = () => join(dir, 'ws', 'logs');
const text = () => readFileSync(join(logs(), 'portolan.log'), 'utf8');

it('writes to a file of its owner only, by default in the workspace', async () => {
  mkdirSync(logs(), { recursive: true });
  writeFileSync(join(logs(), 'portolan.log'), 'old\n');
  chmodSync(join(logs(), 'portolan.log'), 0o644);
  const { output, log } = open({});
  log.info({ scan_id: 'x' }, 'hello\u001b[2J');
  output.lineTaker()?.('a line of a scan process');
  log.debug('not wanted');
  await output.close();
  expect(text()).toMatch(
    /^old\n\d{4}-\d\d-\d\dT[\d:.]+Z info {2}hello\\x1b\[2J scan_id=x\na line of a scan process\n$/,
  );
  expect(statSync(join(logs(), 'portolan.log')).mode & 0o777).toBe(0o600);
});

it('writes no API token, wherever it stands', async () => {
  const token = `svc_abc123_${'x'.repeat(43)}`;
  const { output, log } = open({ 'logging.format': 'json' });
  log.child({ request_id: token }).info({ path: `/${token}`, list: [token] }, `a ${token}`);
  output.lineTaker()?.(token);
  await output.close();
  expect(text()).not.toContain('xxxxxxxx');
  expect(text().match(/svc_abc123_\[redacted\]/g)).toHaveLength(5);
});

it('rotates by size into names that sort, and keeps as many as wanted', async () => {
  const { output, log } = open({ 'logging.file.max_size': '2KB', 'logging.file.max_backups': 3 });
  for (let n = 0; n < 200; n++) {
    log.info(`line ${String(n).padStart(4, '0')} ${'x'.repeat(80)}`);
    if (n % 20 === 0) await sleep(5);
  }
  await output.close();
  const names = readdirSync(logs()).sort();
  const rotated = names.filter((name) => /^portolan-\d{8}T\d{6}\.\d{3}Z-\d{3}\.log$/.test(name));
  expect(names).toEqual([...rotated, 'portolan.log']);
  expect(rotated).toHaveLength(3);
  const all = names.map((name) => readFileSync(join(logs(), name), 'utf8')).join('');
  const numbers = [...all.matchAll(/line (\d{4})/g)].map((match) => Number(match[1]));
  expect(numbers).toEqual(numbers.map((_, at) => 200 - numbers.length + at));
  for (const name of names) expect(statSync(join(logs(), name)).mode & 0o777).toBe(0o600);
});

it('deletes rotated files that are too old, and nothing else', async () => {
  mkdirSync(logs(), { recursive: true });
  const make = (name: string, daysAgo: number) => {
    writeFileSync(join(logs(), name), 'x');
    const time = new Date(Date.now() - daysAgo * 86_400_000);
    utimesSync(join(logs(), name), time, time);
  };
  make('portolan-20260101T000000.000Z-001.log', 40);
  make('portolan-20260201T000000.000Z-001.log', 2);
  make('portolan-notes.log', 40);
  make('other-20260101T000000.000Z-001.log', 40);
  const { output, log } = open({ 'logging.file.max_age': '30d' });
  log.info('hello');
  await output.close();
  expect(readdirSync(logs()).sort()).toEqual([
    'other-20260101T000000.000Z-001.log',
    'portolan-20260201T000000.000Z-001.log',
    'portolan-notes.log',
    'portolan.log',
  ]);
});

it('follows a reload to another file and format', async () => {
  const { config, output, log } = open({});
  log.info('one');
  config.logging.file.path = join(dir, 'elsewhere', 'p.log');
  config.logging.format = 'json';
  output.use(config.logging);
  log.info('two');
  await output.close();
  await sleep(50);
  expect(text()).toMatch(/info {2}one\n$/);
  expect(JSON.parse(readFileSync(join(dir, 'elsewhere', 'p.log'), 'utf8'))).toMatchObject({ msg: 'two' });
});

it('goes on without a log file that cannot be made, and says why', async () => {
  writeFileSync(join(dir, 'file'), '');
  const { output, log } = open({ 'logging.file.path': join(dir, 'file', 'portolan.log') });
  expect(output.fault).toMatch(/^cannot write the log file: (ENOTDIR|EEXIST)$/);
  log.level = 'silent';
  await output.close();
});
