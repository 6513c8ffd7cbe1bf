import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { root } from '../program.ts';
import { Home } from './command.ts';

const home = new Home();
afterAll(() => home.remove());

describe('config init', () => {
  const example = readFileSync(join(root, 'config.example.yaml'), 'utf8');

  it('prints the example', async () => {
    expect(await home.run(['config', 'init'])).toMatchObject({ code: 0, stdout: example, stderr: '' });
  });

  it('writes a new file that is valid, and never over another', async () => {
    const file = home.file('new.yaml');
    expect(await home.run(['config', 'init', file])).toMatchObject({ code: 0, stdout: '' });
    expect(readFileSync(file, 'utf8')).toBe(example);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await home.run(['config', 'validate', '--strict', '--config', file])).code).toBe(0);
    writeFileSync(file, 'mine');
    const again = await home.run(['config', 'init', file]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('exists already')]);
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect((await home.run(['config', 'init', '/none/such/c.yaml'])).code).toBe(1);
  });
});

describe('config validate', () => {
  it('tells good, doubtful and bad apart (exit 0 and 3)', async () => {
    const file = home.file('c.yaml');
    writeFileSync(file, 'scanner: {rat: 5}\n');
    const loose = await home.run(['config', 'validate', '--config', file]);
    expect([loose.code, loose.stdout]).toEqual([0, 'the configuration is valid\n']);
    expect(loose.stderr).toMatch(
      /c\.yaml:1:\d+ scanner\.rat: is not a known key; did you mean scanner\.rate/,
    );
    expect((await home.run(['config', 'validate', '--strict', '--config', file])).code).toBe(3);
    writeFileSync(file, 'workspace: {retention: {max_age: 5m, min_free_space: 20}}\n');
    const bad = await home.run(['config', 'validate', '--config', file]);
    expect([bad.code, bad.stdout]).toEqual([3, '']);
    expect(bad.stderr).toContain('workspace.retention.max_age');
    expect(bad.stderr).toContain('workspace.retention.min_free_space');
  });
});

describe('config show', () => {
  it('shows what holds and where it comes from', async () => {
    const env = { SERVICE_RATE: '77' };
    const { code, stdout } = await home.run(['config', 'show', '--origin'], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^scanner\.rate +77 +environment SERVICE_RATE$/m);
    expect(stdout).toMatch(/^scanner\.timeout +3s +default$/m);
    const json = await home.run(['config', 'show', '--format', 'json'], { env });
    const { settings } = JSON.parse(json.stdout);
    expect(settings).toContainEqual({ key: 'scanner.rate', value: 77 });
    expect(settings).toContainEqual({ key: 'workspace.retention.max_age', value: null });
  });
});
