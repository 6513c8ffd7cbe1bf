import type { ReactNode } from 'react';

export interface KeyValuesProps {
  /** Rows; an undefined value leaves its row out. */
  rows: { label: ReactNode; value: ReactNode; key?: string }[];
  /** `split`: values at the right edge, for narrow columns. `column`: values begin at one line, for drawers and settings. */
  form?: 'split' | 'column';
}

/** Labels and values of one thing. */
export function KeyValues({ rows, form = 'split' }: KeyValuesProps): ReactNode {
  return (
    <dl>
      {rows
        .filter(({ value }) => value !== undefined)
        .map(({ label, value, key }, index) => (
          <div
            key={key ?? (typeof label === 'string' ? label : index)}
            className={
              form === 'split'
                ? 'flex items-baseline justify-between gap-4 border-line-subtle border-b py-[7px]'
                : 'grid gap-x-4 py-1 tablet:grid-cols-[minmax(88px,148px)_minmax(0,1fr)]'
            }
          >
            <dt className="flex-none text-size-12 text-text-3 leading-[19px]">{label}</dt>
            <dd className={`min-w-0 [overflow-wrap:anywhere] ${form === 'split' ? 'text-right' : ''}`}>
              {value}
            </dd>
          </div>
        ))}
    </dl>
  );
}
