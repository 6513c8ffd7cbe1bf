import type { ReactNode } from 'react';
import { Icon, type IconName } from '../icons/icon.tsx';

export interface NoteProps {
  /** `plain` explains, `warning` asks for attention, `problem` says that something failed. */
  tone?: 'plain' | 'warning' | 'problem';
  icon?: IconName;
  title?: ReactNode;
  children?: ReactNode;
  actions?: ReactNode;
}

const tones: Record<NonNullable<NoteProps['tone']>, { icon: IconName; color: string }> = {
  plain: { icon: 'about', color: 'text-text-3' },
  warning: { icon: 'warning', color: 'text-state-interrupted' },
  problem: { icon: 'state-failed', color: 'text-state-failed' },
};

/** A remark within a page, in a thin frame. */
export function Note({ tone = 'plain', icon, title, children, actions }: NoteProps): ReactNode {
  const look = tones[tone];
  return (
    <div
      role={tone === 'problem' ? 'alert' : 'note'}
      className="flex gap-2 rounded-m border border-line bg-surface-0 px-3 py-2.5 text-text-2"
    >
      <Icon name={icon ?? look.icon} className={`mt-px ${look.color}`} />
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        {title === undefined ? null : <p className="font-medium text-text-1">{title}</p>}
        {children}
      </div>
      {actions === undefined ? null : <div className="flex flex-none items-start gap-2">{actions}</div>}
    </div>
  );
}
