import { type FocusEvent, type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { applyCompletion, completeQuery } from '../../../../src/domain/query/complete-query.ts';
import { Icon } from '../icons/icon.tsx';
import { ChoiceList } from './choice-list.tsx';
import { ChipView } from './query-chip.tsx';
import { type Chip, joinChips, readChips } from './query-edit.ts';
import { QueryProblemText } from './query-problem-text.tsx';
import type { QueryBarProps } from './query-props.ts';
import { useChoices } from './use-choices.ts';

/** What is being typed: a new condition, or one of those that are there. */
interface Draft {
  text: string;
  /** Chips before it; it stands for the next one if `replaces`. */
  at: number;
  replaces: boolean;
}

/**
 * The filter of a table: a chip per condition, a field to type in, completion below. The text takes effect when it
 * is complete: on Enter, on a chosen value, when the field is left. The shell focuses it for the key `/`.
 */
export function QueryBar({
  value,
  onChange,
  suggest,
  label = 'Filter',
  placeholder = 'Filter, for example port:443 product:nginx severity:>=high',
  problem = null,
}: QueryBarProps): ReactNode {
  const read = readChips(value);
  const chips = read.chips ?? [];
  // A text that is no query, as from an edited URL, is shown for correction.
  const whole: Draft = { text: read.chips === null ? value : '', at: chips.length, replaces: false };
  const [typed, setTyped] = useState<(Draft & { for: string }) | null>(null);
  const draft = typed?.for === value ? typed : whole;
  const setDraft = (next: Draft | null) => setTyped(next === null ? null : { ...next, for: value });

  const [rejected, setRejected] = useState<string | null>(null);
  const [cursor, setCursor] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const [marked, setMarked] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();

  const completion = isOpen ? completeQuery(draft.text, cursor) : null;
  const choices = useChoices(completion, suggest);
  const hasList = isOpen && choices.length > 0;

  const textWith = (text: string) => {
    const texts = chips.map((chip) => chip.text);
    return joinChips([
      ...texts.slice(0, draft.at),
      text,
      ...texts.slice(draft.at + (draft.replaces ? 1 : 0)),
    ]);
  };
  const commit = (text: string) => {
    const next = textWith(text);
    setOpen(false);
    if (readChips(next).problem !== null) {
      setRejected(next);
      return;
    }
    setRejected(null);
    setTyped(null);
    if (next !== value) onChange(next);
  };
  const type = (text: string, at: number) => {
    setDraft({ ...draft, text });
    setCursor(at);
    setMarked(-1);
    setOpen(true);
    setRejected(null);
  };
  const choose = (index: number) => {
    const choice = choices[index];
    if (choice === undefined || completion === null) return;
    const next = applyCompletion(draft.text, completion, choice.insert);
    if (choice.isComplete) commit(next.text);
    else type(next.text, next.cursor);
    input.current?.focus();
  };
  const edit = (index: number) => {
    const text = chips[index]?.text ?? '';
    setDraft({ text, at: index, replaces: true });
    setCursor(text.length);
    setOpen(false);
    setRejected(null);
    input.current?.focus();
  };
  const remove = (index: number) => {
    setRejected(null);
    setTyped(null);
    onChange(joinChips(chips.map((chip) => chip.text).filter((_, k) => k !== index)));
    input.current?.focus();
  };
  const abandon = () => {
    setDraft(read.chips === null ? { ...whole, text: '' } : null);
    setRejected(null);
  };

  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      if (hasList)
        setMarked(((marked < 0 && step < 0 ? 0 : marked) + step + choices.length) % choices.length);
      else setOpen(true);
    } else if (event.key === 'Enter') {
      if (hasList && marked >= 0) choose(marked);
      else commit(draft.text);
    } else if (event.key === 'Escape' && (hasList || draft.text !== '')) {
      if (hasList) setOpen(false);
      else abandon();
      event.stopPropagation();
    } else if (event.key === 'Backspace' && draft.text === '' && !draft.replaces && chips.length > 0) {
      edit(chips.length - 1);
    } else return;
    event.preventDefault();
  };
  const onBlur = (event: FocusEvent<HTMLDivElement>) => {
    if (event.currentTarget.contains(event.relatedTarget)) return;
    setOpen(false);
    if (typed !== null && (draft.text.trim() !== '' || draft.replaces)) commit(draft.text);
  };

  const field = (
    <input
      key="field"
      ref={input}
      role="combobox"
      aria-label={label}
      aria-autocomplete="list"
      aria-expanded={hasList}
      aria-controls={hasList ? `${id}-list` : undefined}
      aria-activedescendant={hasList && marked >= 0 ? `${id}-list-${marked}` : undefined}
      aria-invalid={rejected !== null || read.problem !== null || undefined}
      aria-describedby={`${id}-problem`}
      data-filter
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      maxLength={2000}
      className="mono h-6 min-w-28 grow bg-transparent outline-none placeholder:font-sans placeholder:text-text-3 max-tablet:h-11 max-tablet:text-size-16"
      size={Math.max(12, Math.min(60, draft.text.length + 1))}
      value={draft.text}
      placeholder={chips.length > 0 ? 'Add a condition' : placeholder}
      onChange={(event) => type(event.target.value, event.target.selectionStart ?? event.target.value.length)}
      onSelect={(event) => setCursor(event.currentTarget.selectionStart ?? 0)}
      onKeyDown={onKeyDown}
    />
  );
  const chip = (each: Chip, index: number) => (
    <ChipView
      key={`${index}:${each.text}`}
      chip={each}
      onEdit={() => edit(index)}
      onRemove={() => remove(index)}
    />
  );

  return (
    <div className="relative min-w-0" onBlur={onBlur}>
      <div
        role="search"
        aria-label={label}
        className="flex min-h-[34px] flex-wrap items-center gap-1.5 rounded-m border border-line-control px-2 py-1 focus-within:border-focus focus-within:outline-1 forced-colors:focus-within:outline-2 focus-within:outline-focus"
        onMouseDown={(event) => {
          if (event.target !== event.currentTarget) return;
          event.preventDefault();
          input.current?.focus();
        }}
      >
        <Icon name="filter" />
        {chips.slice(0, draft.at).map(chip)}
        {field}
        {chips
          .slice(draft.at + (draft.replaces ? 1 : 0))
          .map((each, k) => chip(each, draft.at + (draft.replaces ? 1 : 0) + k))}
        <kbd
          className="hidden rounded-s border border-line px-1.5 text-size-11 text-text-3 desk:inline"
          aria-hidden
        >
          /
        </kbd>
      </div>
      {hasList && <ChoiceList id={`${id}-list`} choices={choices} marked={marked} onChoose={choose} />}
      <div id={`${id}-problem`} role="status">
        <QueryProblemText text={rejected ?? value} serverProblem={rejected === null ? problem : null} />
      </div>
    </div>
  );
}
