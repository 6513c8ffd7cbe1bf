import type { License } from '../../workspace/license/read-license.ts';
import type { ServerLog } from '../logging/log.ts';

/** Interval of the license check: each warning is logged within an hour. */
const lookMs = 3_600_000;

/** Logs license notices at the start and when a new one is due. */
export function watchLicense(license: License, log: ServerLog, now = Date.now): () => void {
  let reported: string | null = null;
  const report = () => {
    const notice = license.notice(now());
    if (notice && notice.stage !== reported)
      log.warn({ plan: license.plan(now()) }, `license: ${notice.text}`);
    reported = notice?.stage ?? null;
  };
  report();
  const timer = setInterval(report, lookMs);
  timer.unref();
  return () => clearInterval(timer);
}
