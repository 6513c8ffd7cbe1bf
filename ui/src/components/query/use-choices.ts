import { useEffect, useRef, useState } from 'react';
import type { QueryCompletion } from '../../../../src/domain/query/complete-query.ts';
import { type Choice, choicesOf } from './query-choices.ts';
import type { QueryBarProps, Suggestion } from './query-props.ts';

/** Values are asked for when nothing was typed for so long, milliseconds. */
const pauseMs = 120;

/** Choices at the cursor: what the language knows at once, values of the data when they are loaded. */
export function useChoices(
  completion: QueryCompletion | null,
  suggest: QueryBarProps['suggest'],
): readonly Choice[] {
  const [loaded, setLoaded] = useState<{ field: string; values: readonly Suggestion[] } | null>(null);
  const field = completion === null || completion.kind === 'field' ? null : completion.field;
  const typed = completion?.typed ?? '';
  // Often another function each time that the page is drawn, which is no reason to ask again.
  const source = useRef(suggest);
  source.current = suggest;

  useEffect(() => {
    if (field === null) return;
    const request = new AbortController();
    const timer = setTimeout(() => {
      source.current?.(field, typed, request.signal).then(
        (values) => setLoaded({ field, values }),
        // Without suggestions the field works all the same.
        () => undefined,
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      request.abort();
    };
  }, [field, typed]);

  if (completion === null) return [];
  // Those of the text before stay until the new ones are there: the list does not blink.
  return choicesOf(completion, loaded !== null && loaded.field === field ? loaded.values : []);
}
