import type { ReactNode } from 'react';
import type { IconName } from '../icons/icon.tsx';
import { Blank } from './blank.tsx';

export interface EmptyProps {
  /** "No scans yet", "No host matches this filter". */
  title: string;
  /** What would be here, or what the filter hides. */
  text?: ReactNode;
  /** The one action. */
  action?: ReactNode;
  /** `filter` where a filter hides everything. */
  icon?: IconName;
}

/** Nothing is here, and that is no error. */
export function Empty({ title, text, action, icon = 'about' }: EmptyProps): ReactNode {
  return (
    <Blank icon={icon} title={title} actions={action}>
      {text}
    </Blank>
  );
}
