import { type ReactNode, useEffect, useRef } from 'react';
import type { Choice } from './query-choices.ts';

interface Props {
  id: string;
  choices: readonly Choice[];
  /** -1 for none. */
  marked: number;
  onChoose(index: number): void;
}

/** What the text at the cursor could become. The focus stays in the field. */
export function ChoiceList({ id, choices, marked, onChoose }: Props): ReactNode {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.children[marked]?.scrollIntoView({ block: 'nearest' });
  }, [marked]);
  return (
    <ul
      ref={list}
      id={id}
      role="listbox"
      aria-label="Completions"
      className="absolute left-6 top-full z-(--z-overlay) mt-1 max-h-72 min-w-72 max-w-[min(560px,100%)] overflow-y-auto rounded-l bg-surface-overlay p-1 shadow-overlay"
      // The field keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
    >
      {choices.map(({ insert, shown, note }, index) => (
        <li
          key={insert}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === marked}
          className={`flex cursor-pointer items-baseline gap-3 rounded-m px-2 py-1 hover:bg-surface-2 max-tablet:py-3 ${index === marked ? 'bg-surface-3' : ''}`}
          onClick={() => onChoose(index)}
        >
          <bdi className="mono min-w-0 truncate text-text-1">{shown}</bdi>
          <span className="ml-auto truncate text-size-11 text-text-3">{note}</span>
        </li>
      ))}
    </ul>
  );
}
