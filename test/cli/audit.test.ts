import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditChain } from '../../src/workspace/audit/audit-chain.ts';
import { type AuditEvent, recordText } from '../../src/workspace/audit/audit-record.ts';
import { Home } from './command.ts';
import { InProcessServer } from './in-process-server.ts';

const hostile = '=cmd|\u001b[2J\u009b1m\u0007,"x"\u202e';

function eventOf(n: number, more: Partial<AuditEvent> = {}): AuditEvent {
  return {
    event: 'api_access',
    outcome: 'allowed',
    actor: { type: 'token', id: 'k3v9x2', name: hostile },
    tenant: null,
    request: {
      id: `req_${n}`,
      method: 'POST',
      path: '/api/v1/scans',
      status: 201,
      ip: '192.0.2.7',
      user_agent: hostile,
      duration_ms: 12,
    },
    resource: { type: 'scan', id: `20261006-143022-a1b2c${n}` },
    details: { targets: n },
    ...more,
  };
}

const home = new Home();
const workspace = join(home.path, 'audited');
const folder = join(workspace, 'audit');
const config = home.file('portolan.yaml');
const audit = (...args: string[]) =>
  home.run(['audit', ...args, '--config', config, '--workspace-dir', workspace]);

beforeAll(() => {
  writeFileSync(config, JSON.stringify({ logging: { audit: { enabled: true } } }), { mode: 0o600 });
  mkdirSync(folder, { recursive: true });
  const chain = new AuditChain({ folder, file: null });
  const now = new Date('2026-10-06T14:30:22.118Z');
  chain.append(
    [1, 2, 3].map((n) => recordText(eventOf(n), now)),
    now,
  );
  chain.close();
});
afterAll(() => home.remove());

const records = () =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'))
    .map((line) => JSON.parse(line) as AuditEvent);

/** What would act on a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const raw = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/;

describe('audit list', () => {
  it('prints a line for each record, newest first, and records the reading', async () => {
    const before = records().length;
    const { code, stdout, stderr } = await audit('list', '--until', '2026-10-07');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => /scan:(\S+)/.exec(line)?.[1]?.at(-1))).toEqual(['3', '2', '1']);
    expect(lines[0]).toContain('2026-10-06T14:30:22.118Z api_access    allowed token:');
    expect(lines[0]).toContain('POST /api/v1/scans 201 from 192.0.2.7');
    expect(stdout).not.toMatch(raw);
    expect(records().slice(before)).toEqual([
      expect.objectContaining({
        event: 'config_change',
        actor: expect.objectContaining({ type: 'user' }),
        resource: { type: 'audit', id: null },
        details: { operation: 'audit.read', until: '2026-10-07' },
      }),
    ]);
  });

  it('ends after as many records as wanted', async () => {
    const { code, stdout } = await audit('list', '--until', '2026-10-07', '--limit', '2');
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => /scan:(\S+)/.exec(line)?.[1]?.at(-1))).toEqual(['3', '2']);
  });

  it('filters', async () => {
    const ids = async (...flags: string[]) => {
      const { code, stdout } = await audit('list', '--format', 'jsonl', '--until', '2026-10-07', ...flags);
      expect(code).toBe(0);
      return stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => (JSON.parse(line) as AuditEvent).resource?.id?.at(-1));
    };
    expect(await ids('--resource', 'scan:20261006-143022-a1b2c2')).toEqual(['2']);
    expect(await ids('--event', 'api_access', '--actor', 'k3v9x2', '--outcome', 'allowed')).toHaveLength(3);
    expect(await ids('--outcome', 'denied')).toEqual([]);
    expect(await ids('--since', '2026-10-06T15:00:00Z')).toEqual([]);
    const recent = await audit('list', '--since', '1h', '--format', 'json');
    const shown = JSON.parse(recent.stdout) as AuditEvent[];
    expect(shown.length).toBeGreaterThan(0);
    expect(new Set(shown.map(({ resource }) => resource?.type))).toEqual(new Set(['audit']));
  });

  it.each([
    [['--since', 'yesterday'], 'since'],
    [['--event', 'everything'], 'event'],
    [['--outcome', 'maybe'], 'outcome'],
    [['--limit', '0'], 'limit'],
    [['--format', 'xml'], 'format'],
  ])('rejects %s', async (flags, named) => {
    const { code, stdout, stderr } = await audit('list', ...flags);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(named);
  });

  it('is CSV without a formula or control character, from which the values come back', async () => {
    const { code, stdout } = await audit('list', '--format', 'csv', '--until', '2026-10-07');
    expect(code).toBe(0);
    const [head = '', ...rows] = stdout.trimEnd().split('\r\n');
    expect(head).toMatch(/^timestamp,event,outcome,actor_type,actor_id,actor_name,tenant,request_id,/);
    expect(rows).toHaveLength(3);
    expect(stdout.replaceAll('\r\n', '')).not.toMatch(raw);
    const name = `"'=cmd|\\x1b[2J\\x9b1m\\x07,""x""\\u{202e}"`;
    expect(rows[0]).toContain(
      `token,k3v9x2,${name},,req_3,POST,/api/v1/scans,201,192.0.2.7,${name},12,scan,`,
    );
  });

  it('goes on behind damage and warns of it', async () => {
    const damaged = join(folder, '2026-10-05.jsonl');
    appendFileSync(damaged, `\u001b[2J not a record\n{"half":true}\n`);
    const { code, stdout, stderr } = await audit('list', '--until', '2026-10-07');
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n')).toHaveLength(3);
    expect(stderr).toMatch(/^warning: audit log damaged: 2026-10-05\.jsonl, byte \d+: not a record/m);
    expect(stderr).not.toMatch(raw);
  });

  it('says where no log is', async () => {
    const args = ['audit', 'list', '--config', config, '--workspace-dir', join(home.path, 'none')];
    const { code, stderr } = await home.run(args);
    expect(code).toBe(1);
    expect(stderr).toContain('no audit log at');
    expect((await audit('list', '--tenant', '../x')).code).not.toBe(0);
  });

  it('reads the log of a server page by page', async () => {
    const server = new InProcessServer({ config });
    try {
      await server.start();
      for (let n = 0; n < 3; n++) await server.request(`/api/v1/scans?limit=${n + 1}`);
      const list = ['audit', 'list', '--server', server.url, '--format', 'jsonl', '--resource', 'scan'];
      const lines = async () => {
        const { code, stdout, stderr } = await home.run(list);
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        return stdout.split('\n').filter((line) => line !== '');
      };
      await expect.poll(async () => (await lines()).length).toBe(3);
      for (const line of await lines()) {
        expect(JSON.parse(line)).toMatchObject({
          request: { path: '/api/v1/scans' },
          hash: expect.any(String),
        });
      }
    } finally {
      await server.dispose();
    }
  });
});
