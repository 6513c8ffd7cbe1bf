import type { AuditQuery } from '../../actions/access/audit-filter.ts';
import { everyAuditRecord } from '../../actions/access/list-audit.ts';
import { PortolanError } from '../../domain/errors.ts';
import { tenantPattern } from '../../domain/tenant.ts';
import { parseDuration } from '../../domain/time/duration.ts';
import { auditFiles } from '../../workspace/audit/audit-files.ts';
import { positionOf } from '../../workspace/audit/audit-log.ts';
import { auditFolder } from '../../workspace/audit/audit-logs.ts';
import type { AuditRecord } from '../../workspace/audit/audit-reader.ts';
import type { Client } from '../session/client.ts';
import { namedClient } from '../session/server-choice.ts';
import type { ServerFlags } from '../session/server-flags.ts';
import { auditPageShape } from '../session/server-responses.ts';
import { readConfig } from '../session/session.ts';
import { printable } from '../terminal/draw/printable.ts';
import { styleOf } from '../terminal/draw/style.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print, writeResult } from '../terminal/output.ts';
import { recordChange } from './audit-change.ts';
import { noAuditLog } from './audit-place.ts';
import { auditTable } from './audit-table.ts';
import { auditFormats } from './audit-text.ts';

export interface AuditListFlags extends ServerFlags, AuditQuery {
  format: keyof typeof auditFormats;
  limit?: number;
}

/** Records that a terminal shows unless `--limit` says otherwise. */
const shownRecords = 50;

/** Records in one response of a server. */
const pageSize = 1000;

/** Prints the records of the log of this workspace, or of the named server. @throws PortolanError */
export async function listAuditRecords(flags: AuditListFlags, global: GlobalFlags): Promise<void> {
  const query = queryOf(flags);
  const warnings: string[] = [];
  const write = writerOf(flags, global);
  const client = await namedClient(flags, global);
  if (client) await write(recordsOfServer(client, query, warnings));
  else await listLocal(query, flags, global, write, warnings);
  for (const warning of new Set(warnings)) note(`warning: ${printable(warning)}`);
}

/** A table on a terminal, else a text that grows with what is read. */
function writerOf(
  { format, limit }: AuditListFlags,
  global: GlobalFlags,
): (records: AsyncIterable<AuditRecord>) => Promise<void> {
  const style = styleOf(process.stdout, global);
  if (format !== 'text' || !style.terminal)
    return (records) => writeResult(null, auditFormats[format](newest(records, limit ?? Infinity)));
  const shown = limit ?? shownRecords;
  return async (records) => {
    const found = await Array.fromAsync(newest(records, shown + 1));
    print(auditTable(found.slice(0, shown), style, Date.now()));
    if (found.length > shown && !global.quiet) note(`more: --limit ${2 * shown}`);
  };
}

async function* newest(records: AsyncIterable<AuditRecord>, count: number): AsyncGenerator<AuditRecord> {
  let left = count;
  for await (const record of records) {
    yield record;
    left -= 1;
    if (left === 0) return;
  }
}

async function listLocal(
  query: AuditQuery,
  flags: AuditListFlags,
  global: GlobalFlags,
  write: (records: AsyncIterable<AuditRecord>) => Promise<void>,
  warnings: string[],
): Promise<void> {
  const { config } = await readConfig(global);
  const { dir } = config.workspace;
  const tenant = flags.tenant ?? (process.env['SERVICE_TENANT_ID'] || null);
  if (tenant !== null && !tenantPattern.test(tenant))
    throw new PortolanError('tenant_forbidden', `"${tenant}" is not a tenant`);
  const position = positionOf(auditFolder(dir, tenant), config.logging.audit);
  if (auditFiles(position).length === 0)
    throw noAuditLog(position.file ?? position.folder, config.logging.audit.enabled);
  const view = { position, tenant: tenant ?? undefined };
  const change = { operation: 'audit.read', tenant, details: { ...query } };
  await recordChange({ config, workspace: { dir } }, change, () =>
    write(withoutText(everyAuditRecord(view, query, warnings))),
  );
}

async function* withoutText(found: AsyncIterable<{ record: AuditRecord }>): AsyncGenerator<AuditRecord> {
  for await (const { record } of found) yield record;
}

/** Page by page. */
async function* recordsOfServer(
  client: Client,
  query: AuditQuery,
  warnings: string[],
): AsyncGenerator<AuditRecord> {
  const given = Object.entries({ ...query, limit: String(pageSize) });
  const parameters = new URLSearchParams(given as [string, string][]);
  for (;;) {
    const page = await client.submit('GET', `/api/v1/audit?${parameters}`, auditPageShape);
    warnings.push(...page.warnings);
    yield* page.data.audit;
    if (page.data.next_cursor === null) return;
    parameters.set('cursor', page.data.next_cursor);
  }
}

/** Filters that were given; a duration is a time ago. */
function queryOf({ since, until, event, actor, outcome, resource }: AuditListFlags): AuditQuery {
  const query = { since: timeOf(since), until: timeOf(until), event, actor, outcome, resource };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}

function timeOf(text: string | undefined): string | undefined {
  const ago = text === undefined ? null : parseDuration(text);
  return ago === null ? text : new Date(Date.now() - ago).toISOString();
}
