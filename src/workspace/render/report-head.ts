import type { ResultHead } from './result-head.ts';

export interface ReportHead extends ResultHead {
  /** Heading of the report; without it the scan's id stands there. */
  title?: string | null;
  /** Why the scan failed. */
  failure?: string | null;
  /** False when nothing looked for vulnerabilities: no findings are then no good news. */
  evaluated?: boolean;
}
