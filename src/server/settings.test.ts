import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../config/load.ts';
import { PortolanError } from '../domain/errors.ts';
import { Settings } from './settings.ts';

const dir = mkdtempSync(join(tmpdir(), 'portolan-settings-'));
const file = join(dir, 'c.yaml');
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let logged: string[] = [];
const log = pino({ base: null }, { write: (line) => void logged.push(JSON.parse(line).msg) });

const read = () => loadConfig({ file, env: { HOME: dir }, systemFile: join(dir, 'none.yaml') });

function open(text: string) {
  writeFileSync(file, text);
  const loaded = read();
  return { config: loaded.config, settings: new Settings(loaded, async () => read(), log) };
}

beforeEach(() => {
  logged = [];
});

describe('a reload', () => {
  it('changes the values that can change within the object that everybody holds', async () => {
    const { config, settings } = open('scanner: {scope: {deny: [10.0.0.0/8]}, rate: 100}');
    const { scope } = config.scanner;
    writeFileSync(
      file,
      'scanner: {scope: {deny: [192.0.2.0/24]}, rate: 200}\nworkspace: {retention: {max_scans: 3}}',
    );
    const report = await settings.reload();
    expect(report).toEqual({
      ok: true,
      changed: ['workspace.retention.max_scans', 'scanner.scope.deny'],
      needs_restart: ['scanner.rate'],
      warnings: [],
      problems: [],
    });
    expect(scope.deny).toEqual(['192.0.2.0/24']);
    expect(config.workspace.retention.max_scans).toBe(3);
    expect(config.scanner.rate).toBe(100);
    expect(logged).toContain('scanner.rate changed, which needs a restart');
  });

  it('names module options, license and workspace among what needs a restart', async () => {
    const { settings } = open('{}');
    writeFileSync(file, `modules: {x: {y: 1}}\nlicense: {file: /l}\nworkspace: {dir: ${dir}/w}`);
    const { needs_restart } = await settings.reload();
    expect(needs_restart).toEqual(['workspace.dir', 'license.file', 'modules.x.y']);
  });

  it('keeps all settings if the file is invalid, and reports every problem', async () => {
    const { config, settings } = open('scanner: {blocklist: [192.0.2.1]}');
    writeFileSync(file, 'scanner: {blocklist: [192.0.2.2], rate: -1}\nlogging: {level: loud}');
    const { ok, problems } = await settings.reload();
    expect([ok, problems]).toEqual([
      false,
      [expect.stringContaining('scanner.rate'), expect.stringContaining('logging.level')],
    ]);
    expect(config.scanner.blocklist).toEqual(['192.0.2.1']);
    expect(logged.filter((text) => text.startsWith('configuration: '))).toHaveLength(2);
  });

  it('is all or nothing: one part that refuses keeps the others from changing', async () => {
    const { config, settings } = open('{}');
    const done: string[] = [];
    settings.onReload('first', () => () => void done.push('first'));
    settings.onReload('second', async (next) => {
      if (next.scanner.blocklist.length > 1) throw new PortolanError('configuration', 'too many');
      return () => void done.push('second');
    });
    writeFileSync(file, 'scanner: {blocklist: [192.0.2.1, 192.0.2.2]}');
    expect(await settings.reload()).toMatchObject({ ok: false, problems: ['second: too many'] });
    expect([done, config.scanner.blocklist]).toEqual([[], []]);
    writeFileSync(file, 'scanner: {blocklist: [192.0.2.1]}');
    expect(await settings.reload()).toMatchObject({ ok: true, changed: ['scanner.blocklist'] });
    expect([done, config.scanner.blocklist]).toEqual([['first', 'second'], ['192.0.2.1']]);
  });

  it('reveals no details of an internal error', async () => {
    const { settings } = open('{}');
    settings.onReload('part', () => {
      throw new Error('at /secret/path');
    });
    const { ok, problems } = await settings.reload();
    expect([ok, problems]).toEqual([false, ['part: internal error; see the log']]);
  });

  it('names a setting whose file has changed, once', async () => {
    const { settings } = open('alerts: {interval: 1m}');
    settings.onReload('alerts', () => () => 'alerts.file');
    settings.onReload('others', () => () => undefined);
    expect((await settings.reload()).changed).toEqual(['alerts.file']);
    writeFileSync(file, `alerts: {interval: 2m, file: ${dir}/a.yaml}`);
    expect((await settings.reload()).changed.toSorted()).toEqual(['alerts.file', 'alerts.interval']);
  });

  it('waits for the one before', async () => {
    const { settings } = open('{}');
    const order: string[] = [];
    settings.observe({ begin: () => order.push('begin'), end: () => order.push('end') });
    await Promise.all([settings.reload(), settings.reload()]);
    expect(order).toEqual(['begin', 'end', 'begin', 'end']);
  });
});
