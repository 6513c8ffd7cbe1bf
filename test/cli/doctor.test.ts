import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { Home } from './command.ts';
import { InProcessServer } from './in-process-server.ts';
import { freePort } from './listeners.ts';

const home = new Home();
afterAll(() => home.remove());

interface Report {
  status: string;
  checks: { name: string; status: string; message: string; remedy: string | null }[];
}

async function doctor(...args: string[]): Promise<{ code: number | null; report: Report }> {
  const { code, stdout, stderr } = await home.run(['doctor', '--format', 'json', ...args]);
  expect(stderr).toBe('');
  return { code, report: JSON.parse(stdout) };
}

function checkOf(report: Report, name: string) {
  return report.checks.find((check) => check.name === name);
}

describe('doctor', () => {
  it('looks at the machine and the configuration, and changes nothing', async () => {
    const { code, report } = await doctor();
    const machine = 'node raw_sockets ping interfaces routes clock plugin_sandbox';
    const names = `${machine} configuration open_files workspace disk server resolver`;
    expect(report.checks.map(({ name }) => name)).toEqual(names.split(' '));
    expect(code).toBe(report.checks.some(({ status }) => status === 'fail') ? 1 : 0);
    for (const { name, message } of report.checks) {
      expect([name, message]).toEqual([name, expect.stringMatching(/\S/)]);
      expect([name, message]).not.toEqual([name, expect.stringContaining('check failed')]);
    }
    expect(checkOf(report, 'workspace')).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('will be created'),
    });
    expect(existsSync(home.file('.local'))).toBe(false);
    const all = await home.run(['doctor', '-v']);
    expect(all.stdout).toMatch(/^ok {4}node +Node\.js 24\./m);
    expect(all.stdout.split('\n').length).toBeGreaterThan(report.checks.length);
    const { stdout } = await home.run(['doctor']);
    const well = report.checks.filter(({ status }) => status === 'ok').length;
    expect(stdout).toMatch(new RegExp(`^ok {4}${well} (?:more|checks) +\\S.* \\(-v\\)\n$`, 'm'));
    const lacks = report.checks.filter(({ status }) => status !== 'ok');
    expect(stdout.match(/^(?:warn|fail) /gm) ?? []).toHaveLength(lacks.length);
  });

  it('fails with a remedy for a workspace that cannot be used', async () => {
    const file = home.file('file');
    writeFileSync(file, '');
    const { code, report } = await doctor('--workspace-dir', file);
    expect(code).toBe(1);
    expect(report.status).toBe('fail');
    expect(checkOf(report, 'workspace')).toMatchObject({
      status: 'fail',
      remedy: expect.stringMatching(/\S/),
    });
    const open = home.file('open');
    mkdirSync(open);
    writeFileSync(`${open}/workspace.version`, '1\n');
    chmodSync(open, 0o755);
    expect(checkOf((await doctor('--workspace-dir', open)).report, 'workspace')).toMatchObject({
      status: 'warn',
      remedy: `chmod 700 ${open}`,
    });
  });

  it('fails for a configuration that is wrong, and still looks at the machine', async () => {
    const bad = home.file('bad.yaml');
    writeFileSync(bad, 'scanner:\n  rate: many\n');
    const { code, report } = await doctor('--config', bad);
    expect(code).toBe(1);
    expect(checkOf(report, 'configuration')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('bad.yaml:2'),
    });
    expect(checkOf(report, 'node')).toMatchObject({ status: 'ok' });
  });

  it('sees a resolver that does not answer', async () => {
    const config = home.file('dns.yaml');
    const port = await freePort();
    writeFileSync(config, `scanner:\n  dns: { servers: ["127.0.0.1:${port}"], timeout: 1s }\n`);
    const { code, report } = await doctor('--config', config);
    expect(checkOf(report, 'resolver')).toMatchObject({
      status: 'warn',
      remedy: expect.stringContaining('dns'),
    });
    expect(code).toBe(0);
  });

  it('asks the server that holds the workspace', async () => {
    const server = new InProcessServer();
    try {
      await server.start();
      const { report } = await doctor('--workspace-dir', server.workspace);
      expect(checkOf(report, 'server')?.message).toContain(`pid ${server.pid}, ${server.url}: `);
      expect(['ok', 'warn']).toContain(checkOf(report, 'server')?.status);
    } finally {
      await server.dispose();
    }
  });
});
