import type { ReactNode } from 'react';

export interface MonoProps {
  children: ReactNode;
  /** Full text, where it is cut. */
  title?: string;
  className?: string;
}

/** Addresses, ports, versions, ids, code of the service itself. Text of targets: `TargetText mono`. */
export function Mono({ children, title, className = '' }: MonoProps): ReactNode {
  return (
    <span className={`mono ${className}`} title={title}>
      {children}
    </span>
  );
}
