import { type ReactNode, useEffect, useRef } from 'react';

export interface CheckboxProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
  /** The name; hidden from sight with `bare`, as in rows of tables. */
  label: string;
  bare?: boolean;
  /** Under the label. */
  hint?: ReactNode;
  /** Some of what it stands for are checked. */
  partly?: boolean;
  disabled?: boolean;
}

/** A checkbox with its label; the browser's own, drawn by the accent color. */
export function Checkbox({
  checked,
  onChange,
  label,
  bare,
  hint,
  partly,
  disabled,
}: CheckboxProps): ReactNode {
  const ref = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (ref.current !== null) ref.current.indeterminate = partly === true;
  }, [partly]);
  const box = (
    <input
      ref={ref}
      type="checkbox"
      checked={checked}
      disabled={disabled}
      aria-label={bare ? label : undefined}
      onChange={(event) => onChange(event.target.checked)}
      className="m-0 size-3.5 flex-none cursor-pointer accent-accent"
    />
  );
  if (bare) {
    // The label makes 24 px of it.
    return (
      <label className="inline-flex size-6 items-center justify-center pointer-coarse:size-11">{box}</label>
    );
  }
  return (
    <label className="flex min-h-6 items-start gap-2 pointer-coarse:min-h-(--row-touch) pointer-coarse:items-center">
      <span className="flex h-[19px] items-center">{box}</span>
      <span className={`min-w-0 ${disabled ? 'text-text-3' : ''}`}>
        {label}
        {hint === undefined ? null : <span className="block text-size-12 text-text-3">{hint}</span>}
      </span>
    </label>
  );
}
