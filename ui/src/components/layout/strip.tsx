import type { ReactNode } from 'react';
import { Link } from '../../url/link.tsx';

export interface StripNumber {
  label: ReactNode;
  /** Text, or a formatted number. */
  value: ReactNode;
  /** Small, behind the value: a change, a unit. */
  beside?: ReactNode;
  /** Under the value: out of what, since when. */
  note?: ReactNode;
  /** Where what was counted is listed; the label says it in full. */
  link?: { to: string; label: string };
  key?: string;
}

export interface StripProps {
  numbers: StripNumber[];
  /** What these numbers are, for screen readers. */
  label: string;
  /** `large` (28 px) once per page at most. */
  size?: 'large' | 'normal';
}

const looks = {
  large: 'font-semibold text-size-28 leading-[1.15] tracking-[-0.025em]',
  normal: 'font-semibold text-size-16',
} as const;

/** Numbers of a page side by side, divided by hairlines. */
export function Strip({ numbers, label, size = 'large' }: StripProps): ReactNode {
  return (
    <div role="group" aria-label={label} className="h-full">
      <dl
        className={`grid h-full overflow-hidden border-line border-y tablet:flex tablet:flex-wrap ${size === 'large' ? 'grid-cols-2' : 'grid-cols-3'}`}
      >
        {numbers.map(({ label: name, value, beside, note, link, key }, index) => (
          <div
            key={key ?? (typeof name === 'string' ? name : index)}
            className="flex min-w-0 flex-col gap-0.5 border-line-subtle py-3 pr-4 tablet:-ml-px tablet:border-line tablet:border-l tablet:px-4 tablet:first:ml-0 tablet:first:border-l-0 tablet:first:pl-0"
          >
            <dt className="text-size-12 text-text-3">{name}</dt>
            <dd className="flex items-baseline gap-1.5">
              <span className={looks[size]}>
                {link === undefined ? (
                  value
                ) : (
                  <Link to={link.to} aria-label={link.label} title={link.label} className="text-text-1">
                    {value}
                  </Link>
                )}
              </span>
              {beside === undefined ? null : <span className="text-size-12">{beside}</span>}
            </dd>
            {note === undefined ? null : <dd className="text-size-12 text-text-2">{note}</dd>}
          </div>
        ))}
      </dl>
    </div>
  );
}
