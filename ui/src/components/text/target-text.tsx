import { type ReactNode, useState } from 'react';
import { count } from '../../format/numbers.ts';
import { cutEnd, cutMiddle, shownAtMost, shownAtOnce, visibleText } from '../../format/target-text.ts';

export interface TargetTextProps {
  /** As the target sent it; every text of a target goes through this component. */
  text: string;
  /** Which part goes when it is longer than `max`: the middle of addresses and ids, the end of names and banners. */
  cut?: 'end' | 'middle';
  /** Characters shown. Above 200 "Show all" stands behind the text. */
  max?: number;
  mono?: boolean;
  /** Breaks lines instead of ending at the edge of its cell. */
  wrap?: boolean;
}

/** Of a longer text no more is read until somebody wants to see all of it, characters. */
const readAhead = 1000;

/**
 * Text that a target sent: isolated from the direction of the text around it, control characters as `\x1b`, and cut.
 * The full text is in the tooltip and for screen readers, up to 200 characters.
 */
export function TargetText({ text, cut = 'end', max = shownAtOnce, mono, wrap }: TargetTextProps): ReactNode {
  const [all, setAll] = useState(false);
  const visible = visibleText(text.slice(0, all ? shownAtMost : readAhead));
  const long = visible.length > shownAtOnce;
  const shorten = cut === 'middle' ? cutMiddle : cutEnd;
  const shown = all ? visible : shorten(visible, Math.min(max, shownAtOnce));
  const look = `${mono ? 'mono' : ''} ${wrap || all ? 'whitespace-pre-wrap [overflow-wrap:anywhere]' : ''}`;
  const title = shown === visible ? undefined : visible;
  return (
    <>
      <bdi dir="auto" className={`relative ${look}`} title={title}>
        {shown === visible || long ? (
          shown
        ) : (
          <>
            <span aria-hidden>{shown}</span>
            <span className="sr-only">{visible}</span>
          </>
        )}
      </bdi>
      {long && max >= shownAtOnce ? (
        <button
          type="button"
          className="ml-1 whitespace-nowrap text-accent-text text-size-12 hover:underline"
          aria-expanded={all}
          onClick={() => setAll(!all)}
        >
          {all ? 'Show less' : `Show all ${count(text.length)} characters`}
        </button>
      ) : null}
      {all && text.length > shownAtMost ? (
        <span className="ml-1 text-size-12 text-text-3">
          {count(text.length - shownAtMost)} more characters are in the download.
        </span>
      ) : null}
    </>
  );
}
