import type { ReactNode } from 'react';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { steps } from './page.tsx';

interface StepFootProps {
  at: number;
  /** What the other steps have may stay as it is. */
  canSkip?: boolean;
  children?: ReactNode;
}

/** Back, next, and what stands beside them: always in view. */
export function StepFoot({ at, canSkip = false, children }: StepFootProps) {
  const [before, after, review] = [steps[at - 1], steps[at + 1], steps[4]];
  return (
    <div className="sticky bottom-0 z-10 mt-8 flex flex-wrap items-center gap-2 border-line border-t bg-surface-1 py-3">
      {before && (
        <LinkButton to={before.path} variant="ghost">
          Back
        </LinkButton>
      )}
      <span className="grow" />
      {children}
      {canSkip && <LinkButton to={review.path}>To the review</LinkButton>}
      {after && (
        <LinkButton to={after.path} variant="primary">
          Next: {after.label}
        </LinkButton>
      )}
    </div>
  );
}
