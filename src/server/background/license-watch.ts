import type { License } from '../../workspace/license/read-license.ts';
import type { ServerLog } from '../logging/log.ts';

/** The warnings are looked at this often, so that each comes within an hour of when it is due. */
const lookMs = 3_600_000;

/** Tells the log what an operator should know about the licence: at the start, and when a further warning is due. */
export function watchLicense(licence: License, log: ServerLog, now = Date.now): () => void {
  let told: string | null = null;
  const tell = () => {
    const notice = licence.notice(now());
    if (notice && notice.stage !== told) log.warn({ plan: licence.plan(now()) }, `licence: ${notice.text}`);
    told = notice?.stage ?? null;
  };
  tell();
  const timer = setInterval(tell, lookMs);
  timer.unref();
  return () => clearInterval(timer);
}
