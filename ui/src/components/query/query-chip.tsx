import type { ReactNode } from 'react';
import { Icon } from '../icons/icon.tsx';
import type { Chip } from './query-edit.ts';

interface Props {
  chip: Chip;
  onEdit(): void;
  onRemove(): void;
}

/** One condition. Enter edits it, Delete removes it. */
export function ChipView({ chip, onEdit, onRemove }: Props): ReactNode {
  const look = chip.isNegated ? 'border border-line-control' : 'border border-transparent bg-surface-3';
  return (
    <span className={`inline-flex h-6 max-w-full items-center rounded-s max-tablet:h-11 ${look}`}>
      <button
        type="button"
        className="mono h-full min-w-0 truncate rounded-s pl-1.5 pr-0.5 text-text-2"
        title={`${chip.text}: press to edit`}
        aria-label={`Edit ${chip.text}`}
        aria-keyshortcuts="Delete"
        onClick={onEdit}
        onKeyDown={(event) => {
          if (event.key !== 'Delete' && event.key !== 'Backspace') return;
          event.preventDefault();
          onRemove();
        }}
      >
        <bdi>
          {chip.parts === undefined ? (
            chip.text
          ) : (
            <>
              {chip.isNegated && 'not '}
              {chip.parts.field}
              <span className="font-medium text-text-1">{chip.parts.value}</span>
            </>
          )}
        </bdi>
      </button>
      <button
        type="button"
        tabIndex={-1}
        aria-label={`Remove ${chip.text}`}
        className="flex h-full w-6 shrink-0 items-center justify-center rounded-s text-text-2 hover:text-text-1 max-tablet:w-11"
        onClick={onRemove}
      >
        <Icon name="x" size={14} />
      </button>
    </span>
  );
}
