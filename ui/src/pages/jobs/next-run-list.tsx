import { TimeText } from '../../components/text/time-text.tsx';
import { localZone, useTimeZone } from '../../components/text/time-zone.ts';
import { clockTime, dateTime, type Zone } from '../../format/times.ts';

/** Runs that are listed. */
const shown = 5;

/** The next runs; where the reader's clock differs from the server's, by both of them. */
export function NextRunList({ runs, server }: { runs: readonly string[]; server: Zone }) {
  const zone = useTimeZone();
  const other = zone === localZone() ? server : localZone();
  return (
    <ol aria-label="Next runs">
      {runs.slice(0, shown).map((at) => (
        <li key={at} className="flex h-7 items-center gap-3 border-line-subtle border-b">
          <span className="tablet:w-48">
            <TimeText at={at} />
          </span>
          {clockTime(at, other).slice(0, 5) !== clockTime(at, zone).slice(0, 5) && (
            <span className="truncate text-text-2">{dateTime(at, Date.parse(at), other)}</span>
          )}
          <span className="ml-auto flex-none text-text-2">
            <TimeText at={at} relative />
          </span>
        </li>
      ))}
    </ol>
  );
}
