import type { ReactNode } from 'react';

export interface TagProps {
  children: ReactNode;
  /** Full text, where the tag cuts. */
  title?: string;
}

/** A short fact in a thin frame. */
export function Tag({ children, title }: TagProps): ReactNode {
  return (
    <span
      className="inline-flex h-[18px] max-w-full items-center gap-1 whitespace-nowrap rounded-s border border-line-strong px-1.5 text-size-11 text-text-2"
      title={title}
    >
      <span className="min-w-0 truncate">{children}</span>
    </span>
  );
}
