import type { License } from '../../workspace/license/read-license.ts';
import type { ServerLog } from '../logging/log.ts';

/** Interval of the license check: each warning is logged within an hour. */
const lookMs = 3_600_000;

/** Logs notices about the license at the start and when a new one is due. */
export function watchLicense(license: License, log: ServerLog, now = Date.now): () => void {
  let told: string | null = null;
  const tell = () => {
    const notice = license.notice(now());
    if (notice && notice.stage !== told) log.warn({ plan: license.plan(now()) }, `license: ${notice.text}`);
    told = notice?.stage ?? null;
  };
  tell();
  const timer = setInterval(tell, lookMs);
  timer.unref();
  return () => clearInterval(timer);
}
