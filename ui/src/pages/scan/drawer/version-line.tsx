import { TargetText } from '../../../components/text/target-text.tsx';
import type { Severity } from '../../../format/words.ts';
import type { FindingDetail } from '../result-rows.ts';

interface VersionLineProps {
  /** First affected version; null for all before the fixed one. */
  from: string | null;
  /** The version of the service. */
  seen: string | null;
  /** The first version that is not affected. */
  fixed: string | null;
  severity: Severity;
}

const colors: Record<Severity, string> = {
  critical: 'bg-sev-critical-mark',
  high: 'bg-sev-high-mark',
  medium: 'bg-sev-medium-mark',
  low: 'bg-sev-low-mark',
  info: 'bg-sev-info-mark',
};

/** A record that lists single versions says nothing of those before and after them: there is no line to draw. */
export function isOneVersion({ affected, fixed_in: fixed }: FindingDetail): boolean {
  return !fixed && typeof affected === 'string' && !/[<>]/.test(affected);
}

/** The affected versions as a line, with the version that was seen on it. Distances mean nothing, the order does. */
export function VersionLine({ from, seen, fixed, severity }: VersionLineProps) {
  if (seen === null || (from === null && fixed === null)) return null;
  return (
    <div
      role="img"
      aria-label={`Affected ${from === null ? 'from the first version' : `from ${from}`}${fixed === null ? '' : ` until before ${fixed}`}; ${seen} was seen`}
      className="grid grid-cols-3 pt-1"
    >
      <div className={`col-span-3 mx-4 h-1 rounded-s ${colors[severity]}`} />
      <span className="pt-1 text-size-11 text-text-2">
        {from === null ? (
          'all before'
        ) : (
          <>
            <TargetText text={from} max={24} /> first
          </>
        )}
      </span>
      <span className="pt-1 text-center font-medium text-size-11">
        <TargetText text={seen} max={24} /> seen
      </span>
      <span className="pt-1 text-right text-size-11 text-text-2">
        {fixed === null ? (
          'no fixed version on record'
        ) : (
          <>
            <TargetText text={fixed} max={24} /> fixed
          </>
        )}
      </span>
    </div>
  );
}
