import { type ReportWishes, wrongWishes } from '../../actions/results/report-order.ts';
import { usage } from '../terminal/failure.ts';

/** @throws PortolanError `usage`, naming every flag that the format does not have */
export function requireReportFlags(format: string, wishes: ReportWishes): void {
  const problems = wrongWishes(format, wishes);
  if (problems.length === 0) return;
  throw usage(problems.map(({ field, reason }) => `--${field} ${reason}`).join('; '));
}
