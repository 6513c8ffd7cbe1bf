import type { ReactNode } from 'react';

/** Why there is no line yet, in its place. */
export function EmptyChart({ why = 'The line begins with the second value.' }: { why?: string }): ReactNode {
  return (
    <span className="flex h-full items-center justify-center rounded-s border border-line-subtle px-3 text-center text-size-12 text-text-2">
      {why}
    </span>
  );
}
