import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PortolanError } from '../../domain/errors.ts';
import { AuditChain } from '../../workspace/audit/audit-chain.ts';
import { type AuditEvent, recordText } from '../../workspace/audit/audit-record.ts';
import type { PageQuery } from '../paging/list-page.ts';
import type { AuditQuery } from './audit-filter.ts';
import { type AuditView, everyAuditRecord, listAudit } from './list-audit.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portolan-audit-list-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const view = (more: Partial<AuditView> = {}): AuditView => ({
  position: { folder, file: null },
  tenant: undefined,
  ...more,
});

function event(n: number, more: Partial<AuditEvent> = {}): AuditEvent {
  return {
    event: 'api_access',
    outcome: 'allowed',
    actor: { type: 'token', id: 'k3v9x2', name: 'ci' },
    tenant: null,
    request: null,
    resource: { type: 'scan', id: `scan-${n}` },
    details: { n },
    ...more,
  };
}

/** Appends records as the server does, all at one time. */
function append(time: string, events: AuditEvent[], file: string | null = null): void {
  const chain = new AuditChain({ folder, file });
  const now = new Date(time);
  chain.append(
    events.map((one) => recordText(one, now)),
    now,
  );
  chain.close();
}

/** Three days with three records each, 0 to 8. */
function threeDays(): void {
  for (const day of [0, 1, 2])
    append(`2026-10-0${day + 4}T12:00:00Z`, [event(3 * day), event(3 * day + 1), event(3 * day + 2)]);
}

const numberIn = (text: string) => (JSON.parse(text) as { details: { n: number } }).details.n;

async function list(query: AuditQuery & PageQuery = {}, of = view()) {
  const { records, ...page } = await listAudit(of, query);
  return { numbers: records.map(numberIn), ...page };
}

describe('the audit log', () => {
  it('is listed newest first through all files, as it was written', async () => {
    threeDays();
    const page = await list();
    expect(page).toEqual({
      numbers: [8, 7, 6, 5, 4, 3, 2, 1, 0],
      total: 9,
      total_is_minimum: false,
      limit: 50,
      offset: 0,
      next_cursor: null,
      warnings: [],
    });
    const { records } = await listAudit(view(), { limit: 1 });
    expect(readFileSync(join(folder, '2026-10-06.jsonl'), 'utf8')).toContain(`${records[0]}\n`);
  });

  it('is empty where there is none', async () => {
    expect(await list()).toMatchObject({ numbers: [], total: 0, next_cursor: null });
  });

  it('comes in pages that follow each other, whatever is written or archived meanwhile', async () => {
    threeDays();
    const first = await list({ limit: 4 });
    expect(first).toMatchObject({ numbers: [8, 7, 6, 5], total: 9 });
    append('2026-10-06T13:00:00Z', [event(9)]);
    const second = await list({ limit: 4, cursor: first.next_cursor ?? '' });
    expect(second).toMatchObject({ numbers: [4, 3, 2, 1], total: 9 });
    rmSync(join(folder, '2026-10-05.jsonl'));
    expect(await list({ limit: 4, cursor: second.next_cursor ?? '' })).toMatchObject({
      numbers: [0],
      total: 9,
      next_cursor: null,
    });
    expect(await list({ limit: 4, cursor: first.next_cursor ?? '' })).toMatchObject({ numbers: [2, 1, 0] });
    expect(await list({ limit: 9, offset: 5 })).toMatchObject({ numbers: [1, 0], offset: 5, total: 7 });
    expect(await list({ offset: 500 })).toMatchObject({ numbers: [], next_cursor: null });
  });

  it.each<[string, AuditQuery, number[]]>([
    ['since a date', { since: '2026-10-06' }, [11, 10, 8, 7, 6]],
    ['since a time with an offset', { since: '2026-10-05T14:00:00+02:00' }, [11, 10, 8, 7, 6, 5, 4, 3]],
    ['until a time, which is left out', { until: '2026-10-05T12:00:00Z' }, [2, 1, 0]],
    ['between two times', { since: '2026-10-05', until: '2026-10-06' }, [5, 4, 3]],
    ['an event', { event: 'config_change' }, [10]],
    ['one of two events', { event: 'config_change, user_login' }, [11, 10]],
    ['an outcome', { outcome: 'denied' }, [11]],
    ['a name of an actor', { actor: 'root' }, [10]],
    ['an id of an actor', { actor: 'k3v9x2', until: '2026-10-05' }, [2, 1, 0]],
    ['a type of an actor', { actor: 'user' }, [10]],
    ['a type of a resource', { resource: 'token' }, [10]],
    ['a resource', { resource: 'scan:scan-4' }, [4]],
    ['an id of a resource', { resource: 'scan-4' }, [4]],
    ['two filters', { outcome: 'denied', event: 'api_access' }, []],
    ['nothing', { actor: 'scan' }, []],
  ])('is filtered by %s', async (_what, query, numbers) => {
    threeDays();
    const change = {
      event: 'config_change' as const,
      actor: { type: 'user' as const, id: '0', name: 'root' },
    };
    append('2026-10-07T12:00:00Z', [
      event(10, { ...change, resource: { type: 'token', id: null } }),
      event(11, { event: 'user_login', outcome: 'denied', resource: null }),
    ]);
    expect(await list(query)).toMatchObject({ numbers, total: numbers.length });
    const every = await Array.fromAsync(everyAuditRecord(view(), query, []), ({ line }) => numberIn(line));
    expect(every).toEqual(numbers);
  });

  it.each<[string, AuditQuery & PageQuery]>([
    ['since', { since: 'yesterday' }],
    ['until', { until: '2026-13-01' }],
    ['event', { event: 'api_access,everything' }],
    ['outcome', { outcome: 'maybe' }],
    ['cursor', { cursor: 'bm90IGEgY3Vyc29y' }],
    ['cursor', { cursor: Buffer.from('../../etc/passwd 5 5 0 0').toString('base64url') }],
    ['cursor', { cursor: `${Buffer.from('2026-10-04.jsonl 5 5 0 0').toString('base64url')}=` }],
    ['cursor', { cursor: Buffer.from('2026-10-04.jsonl 5 5 0 0').toString('base64url'), offset: 1 }],
  ])('rejects a malformed %s and names it', async (field, query) => {
    threeDays();
    const error = await listAudit(view(), query).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PortolanError);
    expect(error).toMatchObject({ code: 'invalid_request', details: { fields: [{ field }] } });
  });

  it('shows a tenant its own records only, in a file that holds those of all', async () => {
    const file = join(folder, 'audit.log');
    const owners = ['acme', null, 'globex', 'acme'];
    const events = owners.map((tenant, n) => event(n, { tenant }));
    append('2026-10-04T12:00:00Z', events, file);
    const position = { folder, file };
    const of = async (tenant: string | null | undefined) => (await list({}, { position, tenant })).numbers;
    expect(await of('acme')).toEqual([3, 0]);
    expect(await of('globex')).toEqual([2]);
    expect(await of(null)).toEqual([1]);
    expect(await of(undefined)).toEqual([3, 2, 1, 0]);
    const first = await list({ limit: 1 }, { position, tenant: 'acme' });
    expect(await list({ cursor: first.next_cursor ?? '' }, { position, tenant: 'acme' })).toMatchObject({
      numbers: [0],
      total: 2,
    });
  });

  it('goes on behind damage, and says where it is', async () => {
    threeDays();
    const path = join(folder, '2026-10-05.jsonl');
    const [first = '', second = '', third = ''] = readFileSync(path, 'utf8').split('\n');
    const changed = second.replace('"n":4', '"n":44');
    writeFileSync(path, [first, changed, 'no record', 'x'.repeat(70_000), third, ''].join('\n'));
    const { numbers, warnings } = await list();
    expect(numbers).toEqual([8, 7, 6, 5, 44, 3, 2, 1, 0]);
    const lineAt = (text: string) => readFileSync(path, 'latin1').indexOf(text);
    expect(warnings).toEqual([
      `audit log damaged: 2026-10-05.jsonl, byte ${lineAt('xxx')}: not a record of an audit log`,
      `audit log damaged: 2026-10-05.jsonl, byte ${lineAt('no record')}: not a record of an audit log`,
      `audit log damaged: 2026-10-05.jsonl, byte ${lineAt(changed)}: the record was changed: its hash does not match`,
    ]);
  });

  it('names the place where records were removed, and leaves out one that is being written', async () => {
    threeDays();
    const path = join(folder, '2026-10-06.jsonl');
    const [first = '', , third = ''] = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, `${first}\n${third}\n`);
    appendFileSync(path, third.slice(0, 100));
    const { numbers, warnings } = await list();
    expect(numbers).toEqual([8, 6, 5, 4, 3, 2, 1, 0]);
    expect(warnings).toEqual([
      'audit log damaged: 2026-10-06.jsonl, byte 0: the chain breaks: records after this one were changed, removed or inserted',
    ]);
  });

  it('that has a later file does not read older days than asked for', async () => {
    threeDays();
    writeFileSync(join(folder, '2026-10-04.jsonl'), 'damage that would be named\n'.repeat(3));
    writeFileSync(join(folder, '2026-10-03.jsonl'), 'damage that would be named\n'.repeat(3));
    const { numbers, warnings } = await list({ since: '2026-10-05' });
    expect(numbers).toEqual([8, 7, 6, 5, 4, 3]);
    expect(warnings).toEqual([]);
  });

  it('of a size beyond one response is listed in parts, with a lower bound as total', async () => {
    const padding = 'p'.repeat(60_000);
    for (let round = 0; round < 12; round++) {
      const batch = Array.from({ length: 50 }, (_, n) =>
        event(round * 50 + n, { details: { n: round * 50 + n, padding } }),
      );
      append('2026-10-04T12:00:00Z', batch);
    }
    append('2026-10-05T12:00:00Z', [event(600)]);
    const wanted = { resource: 'scan-3' };
    const first = await list(wanted);
    expect(first).toMatchObject({ numbers: [], total: 0, total_is_minimum: true });
    const second = await list({ ...wanted, cursor: first.next_cursor ?? '' });
    expect(second).toMatchObject({ numbers: [3], next_cursor: null });
    const all: number[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await list({ limit: 1000, ...(cursor !== '' && { cursor }) });
      all.push(...page.numbers);
      cursor = page.next_cursor;
    }
    expect(all).toEqual(Array.from({ length: 601 }, (_, n) => 600 - n));
  });
});
