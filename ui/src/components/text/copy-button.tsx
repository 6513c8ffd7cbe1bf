import { type ReactNode, useEffect, useState } from 'react';
import { Icon } from '../icons/icon.tsx';
import { copyText } from './copy-text.ts';

export interface CopyButtonProps {
  text: string;
  /** What is copied, for example "Copy address". */
  label: string;
  /** Shows the label beside the icon. */
  wordy?: boolean;
}

/** How long "Copied" stands, milliseconds. */
const noted = 1500;

/** Copies a text; says so for a moment. */
export function CopyButton({ text, label, wordy }: CopyButtonProps): ReactNode {
  const [result, setResult] = useState<'copied' | 'failed' | null>(null);
  useEffect(() => {
    if (result === null) return;
    const timer = setTimeout(() => setResult(null), noted);
    return () => clearTimeout(timer);
  }, [result]);
  const word = result === 'copied' ? 'Copied' : result === 'failed' ? 'Not copied' : label;
  return (
    <button
      type="button"
      className="inline-flex min-h-6 min-w-6 items-center justify-center gap-1.5 rounded-s px-1 align-middle text-size-12 text-text-2 hover:bg-surface-2 hover:text-text-1"
      title={word}
      onClick={(event) => {
        event.stopPropagation();
        copyText(text).then(
          () => setResult('copied'),
          () => setResult('failed'),
        );
      }}
    >
      <Icon name={result === 'copied' ? 'check' : 'copy'} size={14} />
      <span className={wordy ? '' : 'sr-only'} aria-live="polite">
        {word}
      </span>
    </button>
  );
}
