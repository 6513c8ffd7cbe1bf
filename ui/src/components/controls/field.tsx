import { createContext, type ReactNode, useContext, useId } from 'react';
import { Icon } from '../icons/icon.tsx';

export interface FieldProps {
  label: ReactNode;
  /** Under the control, while there is no error. */
  hint?: ReactNode;
  /** The server's words; the control is marked invalid. */
  error?: string | null | undefined;
  /** Says "optional" beside the label. */
  optional?: boolean;
  /** One TextInput, TextArea, Select, or Segmented: it gets its name and description from here. */
  children: ReactNode;
}

interface FieldParts {
  id: string;
  labelId: string;
  describedBy: string | undefined;
  invalid: boolean;
}

const FieldContext = createContext<FieldParts | null>(null);

/** Attributes that tie a control to the label, hint and error of its field; empty outside of a field. */
export function useField(): {
  id?: string;
  'aria-describedby'?: string | undefined;
  'aria-invalid'?: true | undefined;
} {
  const field = useContext(FieldContext);
  return field === null
    ? {}
    : { id: field.id, 'aria-describedby': field.describedBy, 'aria-invalid': field.invalid || undefined };
}

/** Id of the label, for controls that no `<label>` can name. */
export function useFieldLabel(): string | undefined {
  return useContext(FieldContext)?.labelId;
}

/** A control with its label, hint, and error. */
export function Field({ label, hint, error, optional, children }: FieldProps): ReactNode {
  const id = useId();
  const wrong = error !== undefined && error !== null && error !== '';
  const described = wrong ? `${id}-error` : hint === undefined ? undefined : `${id}-hint`;
  const parts: FieldParts = { id, labelId: `${id}-label`, describedBy: described, invalid: wrong };
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <label id={`${id}-label`} htmlFor={id} className="font-medium text-size-12">
        {label}
        {optional ? <span className="font-normal text-text-3"> optional</span> : null}
      </label>
      <FieldContext value={parts}>{children}</FieldContext>
      {wrong ? (
        <p
          id={`${id}-error`}
          className="flex items-start gap-1.5 text-size-12 text-state-failed"
          role="alert"
        >
          <Icon name="state-failed" size={14} className="mt-px" />
          <span className="min-w-0 [overflow-wrap:anywhere]">{error}</span>
        </p>
      ) : hint === undefined ? null : (
        <p id={`${id}-hint`} className="text-size-12 text-text-3">
          {hint}
        </p>
      )}
    </div>
  );
}
