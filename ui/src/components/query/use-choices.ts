import { useEffect, useRef, useState } from 'react';
import { type Choice, type Completion, fieldChoices, knownValues, valueChoices } from './complete-query.ts';
import type { QueryBarProps, Suggestion } from './query-props.ts';

/** Values are asked for when nothing was typed for so long, milliseconds. */
const pauseMs = 120;

interface Loaded {
  field: string;
  word: string;
  values: readonly Suggestion[];
}

/** Choices at the cursor: fields and words of the language at once, values of the data when they are loaded. */
export function useChoices(
  completion: Completion | null,
  suggest: QueryBarProps['suggest'],
): readonly Choice[] {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const field = completion?.kind === 'value' ? completion.field : null;
  const word = completion?.word ?? '';
  // Often another function each time that the page is drawn, which is no reason to ask again.
  const source = useRef(suggest);
  source.current = suggest;

  useEffect(() => {
    if (field === null) return;
    const request = new AbortController();
    const timer = setTimeout(() => {
      source.current?.(field, word, request.signal).then(
        (values) => setLoaded({ field, word, values }),
        // Without suggestions the field works all the same.
        () => undefined,
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      request.abort();
    };
  }, [field, word]);

  if (completion === null) return [];
  if (field === null) return fieldChoices(word);
  // Those of the word before stay until the new ones are there: the list does not blink.
  const found = loaded?.field === field ? loaded.values.filter(({ value }) => fits(value, word)) : [];
  const known = knownValues(field, word).filter(({ value }) => !found.some((each) => each.value === value));
  return valueChoices([...found, ...known]);
}

function fits(value: string, word: string): boolean {
  return value.toLowerCase().includes(word.toLowerCase());
}
