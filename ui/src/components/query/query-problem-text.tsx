import type { ReactNode } from 'react';
import { Icon } from '../icons/icon.tsx';
import { readChips } from './query-edit.ts';

/** Characters before and behind the place of a problem that are shown. */
const around = 40;

interface Props {
  text: string;
  /** What the server said about a text that this page accepts. */
  serverProblem: string | null;
}

/** Why a text is no query, with its place marked in the text. */
export function QueryProblemText({ text, serverProblem }: Props): ReactNode {
  const { problem } = readChips(text);
  const message = problem?.message ?? serverProblem;
  if (message === null) return null;
  return (
    <p className="mt-1 flex flex-wrap items-baseline gap-x-3 text-size-12 text-state-failed">
      <span className="inline-flex items-baseline gap-1.5">
        <Icon name="state-failed" size={14} />
        {message}
      </span>
      {problem !== null && <Excerpt text={text} from={problem.from} to={problem.to} />}
    </p>
  );
}

function Excerpt({ text, from, to }: { text: string; from: number; to: number }): ReactNode {
  const start = Math.max(0, from - around);
  const end = Math.min(text.length, Math.max(to, from) + around);
  return (
    <code className="mono min-w-0 truncate text-text-2">
      {start > 0 && '…'}
      {text.slice(start, from)}
      <span className="text-state-failed underline decoration-wavy underline-offset-2">
        {text.slice(from, Math.max(to, from + 1)) || ' '}
      </span>
      {text.slice(Math.max(to, from + 1), end)}
      {end < text.length && '…'}
    </code>
  );
}
