import { Switch as BaseSwitch } from '@base-ui/react/switch';
import { type ReactNode, useId } from 'react';

export interface SwitchProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
  label: string;
  /** Under the label. */
  hint?: ReactNode;
  disabled?: boolean;
}

/** Turns something on and off at once, without a button to save. */
export function Switch({ checked, onChange, label, hint, disabled }: SwitchProps): ReactNode {
  const id = useId();
  return (
    <div className="flex min-h-6 items-start gap-2.5">
      <BaseSwitch.Root
        checked={checked}
        onCheckedChange={onChange}
        disabled={disabled}
        aria-labelledby={id}
        className="mt-px flex h-[18px] w-8 flex-none items-center rounded-full border border-line-control bg-surface-3 px-0.5 transition-colors duration-(--motion-fast) pointer-coarse:h-6 pointer-coarse:w-10 data-checked:border-accent data-checked:bg-accent data-disabled:cursor-not-allowed data-disabled:opacity-50"
      >
        <BaseSwitch.Thumb className="block size-3 rounded-full bg-text-2 transition-transform duration-(--motion-fast) data-checked:translate-x-3.5 data-checked:bg-on-accent pointer-coarse:data-checked:translate-x-[22px] forced-colors:bg-[ButtonText] forced-colors:data-checked:bg-[Highlight]" />
      </BaseSwitch.Root>
      <div id={id} className="min-w-0">
        {label}
        {hint === undefined ? null : <span className="block text-size-12 text-text-3">{hint}</span>}
      </div>
    </div>
  );
}
