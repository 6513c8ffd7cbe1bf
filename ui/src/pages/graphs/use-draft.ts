import { useCallback, useState } from 'react';

/** Texts that were changed and not saved, of this tab; a token that expires or a reload does not lose them. */
const prefix = 'portolan.draft.';

/** @param key of the graph or profile. @returns null while nothing was changed */
export function useDraft(key: string): [string | null, (text: string | null) => void] {
  const [draft, setDraft] = useState<{ key: string; text: string | null }>(() => ({ key, text: read(key) }));
  const text = draft.key === key ? draft.text : read(key);
  const change = useCallback(
    (next: string | null) => {
      write(key, next);
      setDraft({ key, text: next });
    },
    [key],
  );
  return [text, change];
}

function read(key: string): string | null {
  return sessionStorage.getItem(prefix + key);
}

function write(key: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(prefix + key);
    else sessionStorage.setItem(prefix + key, text);
  } catch {
    // The storage is full: the text is in the field all the same.
  }
}
