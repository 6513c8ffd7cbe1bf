import type { ReactNode, Ref, TextareaHTMLAttributes } from 'react';
import { useField } from './field.tsx';
import { inputLook } from './input-look.ts';

export interface TextAreaProps
  extends Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'value' | 'onChange'> {
  value: string;
  onChange: (value: string) => void;
  /** Outside of a Field. */
  label?: string;
  mono?: boolean;
  ref?: Ref<HTMLTextAreaElement>;
}

/** Several lines of text. */
export function TextArea({
  value,
  onChange,
  label,
  mono,
  className = '',
  rows = 4,
  ...rest
}: TextAreaProps): ReactNode {
  const field = useField();
  return (
    <textarea
      autoComplete="off"
      spellCheck={false}
      {...field}
      aria-label={label}
      {...rest}
      rows={rows}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      className={`${inputLook} resize-y py-1.5 leading-5 ${mono ? 'mono' : ''} ${className}`}
    />
  );
}
