import { useEffect, useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { requestData } from '../../api/request.ts';
import type { GraphView } from './graph-drawing.ts';
import type { GraphProblem } from './graph-text.ts';

export interface Verdict {
  valid: boolean;
  problems: readonly GraphProblem[];
  /** Of this text; null if it cannot be read. */
  graph: GraphView | null;
}

interface Checked {
  /** Of the current text, or of the one before while it is checked. */
  verdict: Verdict | null;
  /** Of the last text that could be read. */
  graph: GraphView | null;
  /** The verdict is not that of the current text. */
  isPending: boolean;
  error: ApiError | null;
}

/** The text is checked when nothing was typed for so long, milliseconds. */
const pauseMs = 250;

/** What the server says of the text of a graph, as it is typed. */
export function useVerdict(text: string | null): Checked {
  const [checked, setChecked] = useState<Checked & { text: string | null }>({
    verdict: null,
    graph: null,
    isPending: true,
    error: null,
    text: null,
  });
  useEffect(() => {
    if (text === null) return;
    const request = new AbortController();
    const timer = setTimeout(() => {
      requestData<Verdict>('POST', '/api/v1/dags/validate', { body: { text } }, request.signal).then(
        (verdict) =>
          setChecked((before) => ({
            verdict,
            graph: verdict.graph ?? before.graph,
            isPending: false,
            error: null,
            text,
          })),
        (error: ApiError) => {
          if (!request.signal.aborted) setChecked((before) => ({ ...before, error }));
        },
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      request.abort();
    };
  }, [text]);
  return { ...checked, isPending: checked.text !== text };
}
