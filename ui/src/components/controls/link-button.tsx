import type { ReactNode } from 'react';
import { Link } from '../../url/link.tsx';
import { Icon, type IconName } from '../icons/icon.tsx';
import { type ButtonSize, type ButtonVariant, buttonLook } from './button-look.ts';

export interface LinkButtonProps {
  /** Path of a page with its search, `/scans/new?targets=10.0.0.0/24`. */
  to?: string;
  /** In place of `to`: a file to download or another site. */
  href?: string;
  /** Name of the file that `href` is saved as. */
  download?: string | boolean;
  variant?: ButtonVariant;
  size?: ButtonSize;
  icon?: IconName;
  /** Name of a link that shows its icon alone. */
  label?: string;
  children?: ReactNode;
}

/** A link that looks like a button: it opens a page instead of doing something. */
export function LinkButton({
  to,
  href,
  download,
  variant = 'default',
  size = 'normal',
  icon,
  label,
  children,
}: LinkButtonProps): ReactNode {
  const look = buttonLook({ variant, size, alone: children === undefined, off: false });
  const content = (
    <>
      {icon === undefined ? null : <Icon name={icon} size={size === 'small' ? 14 : 16} />}
      {children}
    </>
  );
  if (to !== undefined) {
    return (
      <Link to={to} className={`${look} no-underline!`} aria-label={label} title={label}>
        {content}
      </Link>
    );
  }
  const outside = download === undefined ? { target: '_blank', rel: 'noreferrer noopener' } : { download };
  return (
    <a href={href} {...outside} className={`${look} no-underline!`} aria-label={label} title={label}>
      {content}
    </a>
  );
}
