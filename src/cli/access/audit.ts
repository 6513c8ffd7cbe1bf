import { Option } from 'commander';
import { PortolanError } from '../../domain/errors.ts';
import type { AuditReport } from '../../workspace/audit/audit-check.ts';
import type { AuditPosition } from '../../workspace/audit/audit-files.ts';
import type { VerifiableLog } from '../../workspace/audit/verifiable-log.ts';
import { serverOptions } from '../session/server-flags.ts';
import { readConfig } from '../session/session.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { countText } from '../terminal/draw/amounts.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import { type GlobalFlags, numberOption } from '../terminal/globals.ts';
import { print } from '../terminal/output.ts';
import { formatOption } from '../terminal/output-options.ts';
import { noAuditLog } from './audit-place.ts';

/** The most that `--limit` takes. */
const maxRecords = 1_000_000;

export function addAuditCommand(program: CliCommand): void {
  const audit = program.command('audit').description('read and check the audit log');
  addList(audit);
  audit
    .command('verify')
    .description('verify the hash chain: exit 0 if intact, 1 if broken')
    .argument('[file...]', 'consecutive log files, oldest first; default: the configured log')
    .addOption(formatOption())
    .runs(() => verify);
}

function addList(audit: CliCommand): void {
  const filter = 'only records';
  audit
    .command('list')
    .description('list records, newest first; listing is recorded too')
    .option('--since <time>', `${filter} since this time, date, or duration ago, e.g. 24h`)
    .option('--until <time>', `${filter} from before`)
    .option(
      '--event <names>',
      `${filter} of these events, comma-separated; changes = whatever changed something`,
    )
    .option('--actor <actor>', `${filter} of this token id, name, user, or type`)
    .addOption(new Option('--outcome <outcome>', filter).choices(['allowed', 'denied', 'error']))
    .option('--resource <resource>', `${filter} about this type, type:id or id, e.g. scan`)
    .addOption(
      numberOption(
        '--limit <n>',
        'newest records; default: 50 in a table on a terminal, else all',
        1,
        maxRecords,
      ),
    )
    .option('--tenant <tenant>', 'log of this tenant; default: SERVICE_TENANT_ID, else that of the service')
    .addOption(formatOption(['jsonl', 'csv']))
    .addOptions(serverOptions())
    .runs(async () => (await import('./audit-list.ts')).listAuditRecords);
}

/** Report on the log of the service and on those of its tenants. */
interface WholeReport extends AuditReport {
  tenants?: Record<string, AuditReport>;
}

async function verify(named: string[], { format }: { format: string }, global: GlobalFlags): Promise<number> {
  const report = named.length > 0 ? await check(named) : await checkConfigured(global);
  print(format === 'json' ? printableJson(report) : textOf(report));
  return report.ok ? 0 : 1;
}

/** Every log of the workspace, or the one file that is configured as the log. */
async function checkConfigured(global: GlobalFlags): Promise<WholeReport> {
  const { auditFolder, tenantsWithLog } = await import('../../workspace/audit/audit-logs.ts');
  const { config } = await readConfig(global);
  const { file, enabled } = config.logging.audit;
  const { dir } = config.workspace;
  const own = await checkPlace({ folder: auditFolder(dir, null), file: file || null });
  const tenants: Record<string, AuditReport> = {};
  for (const tenant of file ? [] : await tenantsWithLog(dir)) {
    const report = await checkPlace({ folder: auditFolder(dir, tenant), file: null });
    if (report) tenants[tenant] = report;
  }
  const found = Object.values(tenants);
  if (!own && found.length === 0) {
    throw noAuditLog(file || auditFolder(dir, null), enabled);
  }
  const service = own ?? (await check([]));
  const ok = service.ok && found.every((report) => report.ok);
  return { ...service, ok, ...(found.length > 0 && { tenants }) };
}

/** @returns null when no log exists there */
async function checkPlace(place: AuditPosition): Promise<AuditReport | null> {
  const { verifiableLog } = await import('../../workspace/audit/verifiable-log.ts');
  const log = verifiableLog(place);
  return log && (await check(log.files, log));
}

async function check(
  files: string[],
  known: { sizes?: readonly number[]; end?: VerifiableLog['end'] } = {},
): Promise<AuditReport> {
  const { checkAuditLog } = await import('../../workspace/audit/audit-check.ts');
  try {
    return await checkAuditLog(files, known);
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new PortolanError('not_found', `cannot read ${path ?? 'the audit log'}: ${code}`, {}, error);
  }
}

function textOf({ tenants = {}, ...own }: WholeReport): string {
  const lines = Object.entries(tenants).flatMap(([tenant, report]) =>
    linesOf(report).map((line) => `${tenant}: ${line}`),
  );
  return `${[...linesOf(own), ...lines].map(printable).join('\n')}\n`;
}

function linesOf({ files, records, complete, last_hash: last, problems, gaps }: AuditReport): string[] {
  const broken = problems.map(({ file, line, reason }) => `${file}:${line}: ${reason}`);
  const from = complete ? '' : ', continues an older log';
  const word = problems.length > 0 ? 'BROKEN' : 'intact';
  const summary = `${word}: ${countText(records, 'record')} in ${countText(files, 'file')}${from}`;
  const lost = gaps.map(({ file, line, reason }) => `${file}:${line}: ${reason}`);
  return [...broken, ...lost, summary, ...(last ? [`last hash ${last}`] : [])];
}
