import { join } from 'node:path';
import type { Command } from 'commander';
import { PortolanError } from '../domain/errors.ts';
import type { AuditReport } from '../workspace/audit-check.ts';
import { guarded } from './failure.ts';
import { formatOption } from './format-option.ts';
import { type GlobalFlags, globalFlags } from './globals.ts';
import { print } from './output.ts';
import { jsonText, printable } from './printable.ts';
import { count } from './progress-bar.ts';
import { readConfig } from './session.ts';

export function addAuditCommand(program: Command): void {
  const audit = program.command('audit').description('check the audit log');
  audit
    .command('verify')
    .description('check the hash chain: exit 0 when it is whole, 1 where it breaks')
    .argument(
      '[file...]',
      'files that follow each other, the oldest first; else the log of the configuration',
    )
    .addOption(formatOption())
    .action(
      guarded((files: string[], { format }: { format: string }, command: Command) =>
        verify(files, format, globalFlags(command)),
      ),
    );
}

async function verify(named: string[], format: string, global: GlobalFlags): Promise<number> {
  const report = named.length > 0 ? await check(named) : await checkConfigured(global);
  print(format === 'json' ? jsonText(report) : textOf(report));
  return report.ok ? 0 : 1;
}

async function checkConfigured(global: GlobalFlags): Promise<AuditReport> {
  const { auditFiles, headOf, settledSizes } = await import('../workspace/audit-chain.ts');
  const { config } = await readConfig(global);
  const { file, enabled } = config.logging.audit;
  const folder = join(config.workspace.dir, 'audit');
  const place = { folder, file: file || null };
  const files = auditFiles(place);
  if (files.length === 0) {
    const why = enabled ? '' : '; logging.audit.enabled is false';
    throw new PortolanError('not_found', `there is no audit log at ${file || folder}${why}`);
  }
  // A record that is being written at this moment is no broken one.
  return await check(files, settledSizes(place, files), headOf(place));
}

async function check(
  files: string[],
  sizes: number[] | null = null,
  head: string | null = null,
): Promise<AuditReport> {
  const { checkAuditLog } = await import('../workspace/audit-check.ts');
  try {
    return await checkAuditLog(files, { sizes, head });
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new PortolanError('not_found', `cannot read ${path ?? 'the audit log'}: ${code}`, {}, error);
  }
}

function textOf({ ok, files, records, complete, last_hash: last, problems }: AuditReport): string {
  const broken = problems.map(({ file, line, reason }) => `${file}:${line}: ${reason}`);
  const from = complete ? '' : ', continuing an older log';
  const summary = `${ok ? 'whole' : 'BROKEN'}: ${count(records, 'record')} in ${count(files, 'file')}${from}`;
  return `${[...broken, summary, ...(last ? [`last hash ${last}`] : [])].map(printable).join('\n')}\n`;
}
