import { useNow } from '../../components/text/now.ts';
import { useTimeZone } from '../../components/text/time-zone.ts';
import { calendarDate, clockTime } from '../../format/times.ts';
import { plural } from '../../format/words.ts';
import { runsAhead } from './use-schedule.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Every six hours. */
const ticks = [0, 25, 50, 75, 100];
/** Of the line, percent: marks closer than this are drawn as one. */
const together = 2;

interface NextDayProps {
  /** ISO 8601, the soonest first. */
  runs: readonly string[];
  isRunning: boolean;
}

/** Runs of the next 24 hours as marks on a line; a bar at its beginning is what runs now. */
export function NextDay({ runs, isRunning }: NextDayProps) {
  const now = useNow();
  const zone = useTimeZone();
  const today = runs.filter((run) => Date.parse(run) >= now && Date.parse(run) <= now + dayMs);
  // Where as many runs are known as are asked for, later ones are not.
  const more = today.length === runsAhead;
  const places = today.map((run) => ((Date.parse(run) - now) / dayMs) * 100);
  const title = dayText(today, { more, isRunning }, now, zone);
  return (
    <span role="img" aria-label={title} title={title} className="block w-screen max-w-full px-1.5">
      <span className="relative block h-5">
        <span className="absolute inset-x-0 top-1/2 h-px bg-line-strong" />
        {ticks.map((place) => (
          <span
            key={place}
            className="absolute top-[7px] h-1.5 w-px bg-line-strong"
            style={{ left: `${place}%` }}
          />
        ))}
        {spansOf(places).map(([from, to]) => (
          <span
            key={from}
            className="absolute top-1/2 h-2.5 min-w-2.5 -translate-y-1/2 rounded-[5px] border-2 border-accent bg-surface-1 forced-colors:border-[Highlight]"
            style={{ left: `calc(${from}% - 5px)`, width: `calc(${to - from}% + 10px)` }}
          />
        ))}
        {more && (
          <span
            aria-hidden
            className="absolute top-0 bg-surface-1 px-1 text-size-11 text-text-2 leading-5"
            style={{ left: `calc(${Math.min(places.at(-1) ?? 0, 88)}% + 8px)` }}
          >
            and on
          </span>
        )}
        {isRunning && (
          <span className="absolute top-[5px] left-0 h-2.5 w-1.5 rounded-[1px] bg-accent forced-colors:bg-[Highlight]" />
        )}
      </span>
    </span>
  );
}

/** Places, percent, as spans of those that lie too close to be told apart. */
function spansOf(places: readonly number[]): [from: number, to: number][] {
  const spans: [number, number][] = [];
  for (const place of places) {
    const last = spans.at(-1);
    if (last && place - last[1] < together) last[1] = place;
    else spans.push([place, place]);
  }
  return spans;
}

/** Times that are read out; the line shows the others. */
const spoken = 6;

function dayText(
  runs: readonly string[],
  { more, isRunning }: { more: boolean; isRunning: boolean },
  now: number,
  zone: string,
): string {
  const running = isRunning ? 'Runs now. ' : '';
  const [first] = runs;
  if (first === undefined) return `${running}No run in the next 24 hours`;
  const number = more ? `More than ${runs.length} runs` : plural(runs.length, 'run');
  const times = runs.slice(0, spoken).map((run) => clockTime(run, zone).replace(/:\d\d (?=\S+$)/, ' '));
  const rest = runs.length > spoken ? ' and later' : '';
  return `${running}${number} in the next 24 hours, from ${calendarDate(first, now, zone)}: ${times.join(', ')}${rest}`;
}
