import type { InputHTMLAttributes, ReactNode, Ref } from 'react';
import { useField } from './field.tsx';
import { inputLook } from './input-look.ts';

export interface TextInputProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onChange'> {
  value: string;
  onChange: (value: string) => void;
  /** Outside of a Field. */
  label?: string;
  mono?: boolean;
  ref?: Ref<HTMLInputElement>;
}

/** One line of text. */
export function TextInput({
  value,
  onChange,
  label,
  mono,
  className = '',
  ...rest
}: TextInputProps): ReactNode {
  const field = useField();
  return (
    <input
      type="text"
      autoComplete="off"
      spellCheck={false}
      {...field}
      aria-label={label}
      {...rest}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      className={`${inputLook} h-8 pointer-coarse:h-(--row-touch) ${mono ? 'mono' : ''} ${className}`}
    />
  );
}
