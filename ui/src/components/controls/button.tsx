import type { ButtonHTMLAttributes, MouseEvent, ReactNode, Ref } from 'react';
import { useId } from 'react';
import { Icon, type IconName } from '../icons/icon.tsx';
import { type ButtonSize, type ButtonVariant, buttonLook } from './button-look.ts';
import { Tooltip } from './tooltip.tsx';

export interface ButtonProps
  extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled' | 'aria-label'> {
  /** `primary` once per page. */
  variant?: ButtonVariant;
  size?: ButtonSize;
  icon?: IconName;
  /** Required without children: the name of a button that shows its icon alone; it is the tooltip too. */
  label?: string;
  /** Why the button does nothing now. It can still be focused, and says so on hover, focus and press. */
  disabledReason?: string | null | false;
  /** The reason stands as text beside the button, for forms. */
  reasonBeside?: boolean;
  /** The request runs: pressing does nothing, focus stays. */
  pending?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

/** A button: a verb with its object; `…` only if something is asked first. */
export function Button({
  variant = 'default',
  size = 'normal',
  icon,
  label,
  disabledReason,
  reasonBeside,
  pending,
  children,
  className = '',
  onClick,
  type = 'button',
  ...rest
}: ButtonProps): ReactNode {
  const id = useId();
  const reason = disabledReason || null;
  const off = reason !== null || pending === true;
  const alone = children === undefined;
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    if (off) {
      event.preventDefault();
      return;
    }
    onClick?.(event);
  };
  const tip = reasonBeside ? undefined : (reason ?? (alone ? label : undefined));
  const button = (
    <Tooltip text={tip} isOff={tip === undefined}>
      <button
        {...rest}
        type={type}
        className={`${buttonLook({ variant, size, alone, off })} ${className}`}
        aria-label={label}
        aria-disabled={off || undefined}
        aria-busy={pending || undefined}
        aria-describedby={reason === null ? rest['aria-describedby'] : id}
        onClick={press}
      >
        {icon === undefined ? null : <Icon name={icon} size={size === 'small' ? 14 : 16} />}
        {children}
        {reason === null || reasonBeside ? null : (
          <span id={id} hidden>
            {reason}
          </span>
        )}
      </button>
    </Tooltip>
  );
  if (!reasonBeside) return button;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
      {button}
      <span id={id} className="text-size-12 text-text-3">
        {reason}
      </span>
    </span>
  );
}
