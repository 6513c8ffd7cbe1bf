import { count } from '../../format/numbers.ts';
import { type ChangeGroup, groupNames } from './change-lines.ts';

interface ChangeCountsProps {
  counts: Readonly<Record<ChangeGroup, number>>;
  unchanged: number;
  /** The group that alone is shown; empty for all. */
  shown: string;
  onShow: (group: ChangeGroup | null) => void;
}

/** In this order, with the findings that did not change between. */
const order = ['new', 'fixed', 'services', 'hosts', 'unchanged', 'not_comparable'] as const;
const colors: Partial<Record<ChangeGroup, string>> = { new: 'text-diff-new', fixed: 'text-diff-fixed' };
const look = 'flex min-w-0 flex-col items-start gap-0.5 px-4 py-3 text-left max-tablet:px-3';

/** Six numbers; each of those that have rows shows its rows alone. */
export function ChangeCounts({ counts, unchanged, shown, onShow }: ChangeCountsProps) {
  return (
    <div
      role="group"
      aria-label="Numbers of changes"
      className="grid grid-cols-2 divide-line-subtle desk:divide-x border-line border-y phone:grid-cols-3 desk:grid-cols-6"
    >
      {order.map((group) =>
        group === 'unchanged' ? (
          <p key={group} className={look}>
            <Figure number={unchanged} color="text-text-2" />
            <span className="text-size-12 text-text-2">Unchanged findings</span>
          </p>
        ) : (
          <button
            key={group}
            type="button"
            aria-pressed={shown === group}
            className={`${look} hover:bg-surface-2 focus-visible:-outline-offset-2 ${
              shown === group ? 'bg-accent-soft shadow-[inset_0_-2px_0_var(--accent)]' : ''
            }`}
            onClick={() => onShow(shown === group ? null : group)}
          >
            <Figure
              number={counts[group]}
              color={counts[group] === 0 ? 'text-text-3' : (colors[group] ?? '')}
            />
            <span className="text-size-12 text-text-2">{groupNames[group]}</span>
          </button>
        ),
      )}
    </div>
  );
}

function Figure({ number, color }: { number: number; color: string }) {
  return (
    <span className={`font-semibold text-size-20 leading-[1.2] tracking-[-0.015em] ${color}`}>
      {count(number)}
    </span>
  );
}
