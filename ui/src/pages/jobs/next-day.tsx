import { plural } from '../../format/words.ts';
import { serverNow } from '../../live/live.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Runs of the next 24 hours as marks on a line. */
export function NextDay({ runs }: { runs: readonly string[] }) {
  const now = serverNow();
  const places = runs
    .map((run) => (Date.parse(run) - now) / dayMs)
    .filter((place) => place >= 0 && place <= 1);
  return (
    <span
      role="img"
      aria-label={
        places.length === 0
          ? 'No run in the next 24 hours'
          : `${plural(places.length, 'run')} in the next 24 hours`
      }
      className="relative block h-4 w-full"
    >
      <span className="absolute inset-x-0 top-1/2 h-px bg-line" />
      {places.map((place) => (
        <span
          key={place}
          className="absolute top-1/2 size-2 -translate-x-1/2 -translate-y-1/2 rounded-full border-2 border-accent bg-surface-1"
          style={{ left: `${place * 100}%` }}
        />
      ))}
    </span>
  );
}
