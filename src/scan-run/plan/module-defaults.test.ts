import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { PortolanError } from '../../domain/errors.ts';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import type { ScanOptions, ScanRequest } from '../../domain/scan.ts';
import { GraphLibrary } from '../../engine/graph/graph-library.ts';
import { Registry, registerModules } from '../../engine/registry.ts';
import { checkModuleDefaults } from './module-defaults.ts';
import { type ModuleCatalog, planScan } from './plan-scan.ts';

const dir = mkdtempSync(join(tmpdir(), 'portolan-module-defaults-'));
let catalogue: ModuleCatalog;

beforeAll(async () => {
  const registry = new Registry();
  await registerModules(registry, fileURLToPath(new URL('../../modules', import.meta.url)));
  const profiles = fileURLToPath(new URL('../../../profiles', import.meta.url));
  catalogue = { registry, library: await GraphLibrary.load(profiles, 'builtin', registry) };
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function settings(text: string, env: NodeJS.ProcessEnv = {}) {
  const file = join(dir, 'c.yaml');
  writeFileSync(file, text);
  return loadConfig({ file, env: { HOME: dir, ...env }, systemFile: join(dir, 'none.yaml') });
}

function request(options: ScanOptions = {}): ScanRequest {
  return scanRequest({
    scan_id: '20260101-000000-000000',
    created_at: '2026-01-01T00:00:00.000Z',
    targets: ['192.0.2.1'],
    profile: 'quick',
    options,
  });
}

async function optionsOf(
  module: string,
  text: string,
  options: ScanOptions = {},
  env: NodeJS.ProcessEnv = {},
) {
  const { config } = settings(text, env);
  const plan = await planScan(request(options), config, catalogue);
  return plan.nodes.find(({ definition }) => definition.name === module)?.config ?? {};
}

describe('a default of a module option', () => {
  it('holds where neither the graph nor the submission says it, and before the settings of the scanner', async () => {
    const text = 'modules: {syn_scanner: {timeout: 7s, concurrency: 9}}\nscanner: {timeout: 1s}';
    expect(await optionsOf('syn_scanner', text)).toMatchObject({ timeout: '7s', concurrency: 9 });
    expect(await optionsOf('syn_scanner', text, { timeout: '2s' })).toMatchObject({ timeout: '2s' });
    expect(await optionsOf('banner_grabber', text)).toMatchObject({ timeout: '1s' });
  });

  it('gives way to what the graph says', async () => {
    const text = 'modules: {icmp_discovery: {timeout: 9s, retry: 4}, syn_scanner: {ports: "1-9"}}';
    expect(await optionsOf('icmp_discovery', text)).toMatchObject({ timeout: '1s', retry: 1 });
    expect(await optionsOf('syn_scanner', text)).toMatchObject({ ports: 'common' });
  });

  it('is read from the environment as the option wants it', async () => {
    const env = { SERVICE_MODULES__SYN_SCANNER__CONCURRENCY: '12' };
    expect(await optionsOf('syn_scanner', '{}', {}, env)).toMatchObject({ concurrency: 12 });
  });
});

describe('the check', () => {
  const problemsOf = (text: string, env: NodeJS.ProcessEnv = {}): string[] => {
    try {
      checkModuleDefaults(settings(text, env), catalogue.registry);
      return [];
    } catch (error) {
      expect(error).toBeInstanceOf(PortolanError);
      expect((error as PortolanError).exitCode).toBe(3);
      const problems = (error as PortolanError).details['problems'] as string[];
      return problems.map((problem) => problem.replace(join(dir, 'c.yaml'), 'f'));
    }
  };

  it('finds nothing wrong with good ones', () => {
    expect(problemsOf('modules: {connect_scanner: {timeout: 7s, concurrency: 9}}')).toEqual([]);
  });

  it('names place, key and nearest name of bad ones', () => {
    const text = [
      'modules:',
      '  conect_scanner: {timeout: 1s}',
      '  connect_scanner:',
      '    timout: 1s',
      '    concurrency: many',
      '    timeout: 5',
    ].join('\n');
    expect(problemsOf(text, { SERVICE_MODULES__CONNECT_SCANNER__RETRIES: '-1' })).toEqual([
      expect.stringMatching(/^f:2:29 modules\.conect_scanner\.timeout: .* did you mean connect_scanner\?$/),
      expect.stringMatching(/^f:4:13 modules\.connect_scanner\.timout: is unknown.* did you mean timeout\?$/),
      expect.stringMatching(/^f:6:14 modules\.connect_scanner\.timeout: must be a duration/),
      expect.stringMatching(
        /^environment SERVICE_MODULES__CONNECT_SCANNER__RETRIES modules\.connect_scanner\.retries: must be at least/,
      ),
      expect.stringMatching(/^f:5:18 modules\.connect_scanner\.concurrency: must be a whole number/),
    ]);
    expect(problemsOf('modules: {constructor: {a: 1}}')).toEqual([
      expect.stringContaining('modules.constructor.a: no such module'),
    ]);
  });
});
