import { Option } from 'commander';
import type { ReportWishes } from '../../actions/results/report-order.ts';
import { papers } from '../../report/report-facts.ts';
import { usage } from '../terminal/failure.ts';

/** `--template` of reports. */
export function templateOption(): Option {
  return new Option(
    '--template <name>',
    'template of the report, a folder in config/templates of the workspace',
  );
}

/** `--paper` of reports. */
export function paperOption(): Option {
  return new Option('--paper <size>', 'size of pages: a4 (default), letter').choices(papers);
}

/** @throws PortolanError `usage`, naming every flag that the format does not have */
export async function requireReportFlags(format: string, wishes: ReportWishes): Promise<void> {
  if (Object.values(wishes).every((value) => value === undefined)) return;
  const { wrongWishes } = await import('../../actions/results/report-order.ts');
  const problems = wrongWishes(format, wishes);
  if (problems.length === 0) return;
  throw usage(problems.map(({ field, reason }) => `--${field} ${reason}`).join('; '));
}
