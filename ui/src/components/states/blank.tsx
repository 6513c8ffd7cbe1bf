import type { ReactNode } from 'react';
import { Icon, type IconName } from '../icons/icon.tsx';

export interface BlankProps {
  icon: IconName;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
  /** Announced at once: something failed. */
  alert?: boolean;
}

/** Icon, one sentence, what it means, and what can be done: the shape of everything that has no rows. */
export function Blank({ icon, title, children, actions, alert }: BlankProps): ReactNode {
  return (
    <div role={alert ? 'alert' : undefined} className="flex gap-3 px-2 py-8 tablet:px-6">
      <Icon name={icon} className="mt-0.5 text-text-3" />
      <div className="min-w-0 max-w-[520px]">
        <p className="font-semibold leading-5">{title}</p>
        {children === undefined ? null : (
          <div className="mt-1 text-text-2 [overflow-wrap:anywhere]">{children}</div>
        )}
        {actions === undefined ? null : (
          <div className="mt-2.5 flex flex-wrap items-center gap-2">{actions}</div>
        )}
      </div>
    </div>
  );
}
