import type { ResultHead } from './result-head.ts';

export interface ReportHead extends ResultHead {
  /** Title of the report; by default the scan ID. */
  title?: string | null;
  /** Why the scan failed. */
  failure?: string | null;
  /** False if the scan did not look for vulnerabilities: then no findings does not mean no vulnerabilities. */
  evaluated?: boolean;
}
