import { type KeyboardEvent, type ReactNode, useRef } from 'react';
import { useFieldLabel } from './field.tsx';

export interface SegmentedOption<Value extends string> {
  value: Value;
  label: ReactNode;
  disabled?: boolean;
}

export interface SegmentedProps<Value extends string> {
  value: Value;
  onChange: (value: Value) => void;
  options: readonly SegmentedOption<Value>[];
  /** Outside of a Field. */
  label?: string;
}

/** One of a few values side by side; arrow keys choose. */
export function Segmented<Value extends string>({
  value,
  onChange,
  options,
  label,
}: SegmentedProps<Value>): ReactNode {
  const group = useRef<HTMLDivElement>(null);
  const labelId = useFieldLabel();
  const usable = options.filter(({ disabled }) => disabled !== true);
  const hasChosen = usable.some((option) => option.value === value);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined || usable.length === 0) return;
    event.preventDefault();
    const index = usable.findIndex((option) => option.value === value);
    const next = usable[(index + step + usable.length) % usable.length];
    if (next !== undefined) {
      onChange(next.value);
      group.current?.querySelector<HTMLElement>(`[data-value="${CSS.escape(next.value)}"]`)?.focus();
    }
  };
  return (
    <div
      ref={group}
      role="radiogroup"
      aria-label={label}
      aria-labelledby={label === undefined ? labelId : undefined}
      onKeyDown={move}
      className="inline-flex h-(--control) max-w-full items-stretch self-start overflow-x-auto rounded-m border border-line-control bg-surface-1 p-0.5 pointer-coarse:h-(--row-touch)"
    >
      {options.map((option, index) => {
        const chosen = option.value === value;
        return (
          <button
            key={option.value}
            type="button"
            role="radio"
            aria-checked={chosen}
            data-value={option.value}
            disabled={option.disabled}
            tabIndex={chosen || (!hasChosen && index === 0) ? 0 : -1}
            onClick={() => onChange(option.value)}
            className={`whitespace-nowrap rounded-s px-2.5 text-size-12 disabled:cursor-not-allowed disabled:text-text-disabled ${
              chosen
                ? 'bg-accent-soft font-medium text-accent-text forced-colors:bg-[Highlight]'
                : 'text-text-2 enabled:hover:bg-surface-2 enabled:hover:text-text-1'
            }`}
          >
            {option.label}
          </button>
        );
      })}
    </div>
  );
}
