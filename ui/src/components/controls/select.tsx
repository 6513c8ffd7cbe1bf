import type { ReactNode } from 'react';
import { Icon } from '../icons/icon.tsx';
import { useField } from './field.tsx';
import { inputLook } from './input-look.ts';

export interface SelectOption<Value extends string = string> {
  value: Value;
  label: string;
  /** Behind the label. */
  hint?: string;
  disabled?: boolean;
}

export interface SelectProps<Value extends string = string> {
  value: Value | null;
  onChange: (value: Value) => void;
  options: readonly SelectOption<Value>[];
  /** Outside of a Field. */
  label?: string;
  /** Where nothing is chosen. */
  placeholder?: string;
  disabled?: boolean;
  /** Default: as wide as its column. `auto`: as wide as its longest option. */
  width?: 'full' | 'auto';
  size?: 'normal' | 'small';
}

/**
 * One of several values from a list; for up to four short ones see Segmented. The browser's own list: phones have a
 * better one than any page, and every screen reader knows it.
 */
export function Select<Value extends string = string>({
  value,
  onChange,
  options,
  label,
  placeholder = 'Choose',
  disabled,
  width = 'full',
  size = 'normal',
}: SelectProps<Value>): ReactNode {
  const field = useField();
  const isKnown = options.some((option) => option.value === value);
  return (
    <span className={`relative ${width === 'auto' ? 'inline-block max-w-full' : 'block'}`}>
      <select
        {...field}
        aria-label={label}
        value={isKnown && value !== null ? value : ''}
        disabled={disabled}
        onChange={(event) => onChange(event.target.value as Value)}
        className={`${inputLook} appearance-none truncate pr-7! ${
          size === 'small' ? 'h-[26px] text-size-12' : 'h-8'
        } pointer-coarse:h-(--row-touch)`}
      >
        {isKnown ? null : (
          <option value="" disabled hidden>
            {placeholder}
          </option>
        )}
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.hint === undefined ? option.label : `${option.label}, ${option.hint}`}
          </option>
        ))}
      </select>
      <Icon
        name="down"
        size={14}
        className="pointer-events-none absolute top-1/2 right-2 -translate-y-1/2 text-text-3"
      />
    </span>
  );
}
