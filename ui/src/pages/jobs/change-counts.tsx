import { DiffMark } from '../../components/marks/diff-mark.tsx';

interface ChangeCountsProps {
  changes: { new: number; fixed: number; changed: number };
}

/** New and fixed findings and changed services; those that are zero are left out. */
export function ChangeCounts({ changes }: ChangeCountsProps) {
  const kinds = (['new', 'fixed', 'changed'] as const).filter((kind) => changes[kind] > 0);
  return (
    <span className="inline-flex gap-2 text-text-2">
      <span className="sr-only">Compare: </span>
      {kinds.length === 0
        ? 'none'
        : kinds.map((kind) => <DiffMark key={kind} kind={kind} count={changes[kind]} />)}
    </span>
  );
}
