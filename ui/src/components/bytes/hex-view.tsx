import { memo, type ReactNode, useState } from 'react';
import { plural } from '../../format/words.ts';
import { useIsPhone } from '../table/use-is-phone.ts';
import { type ByteRange, hexLine, offsetText, stretches } from './hex-lines.ts';
import type { HexViewProps } from './hex-view-props.ts';

/** Height of a line, pixels. */
const lineHeight = 18;
/** Lines drawn above and below those in view. */
const beyond = 8;

/** Bytes as offset, hex and text, matched ones marked. Only the lines in view are in the page. */
export function HexView({ bytes, match = [], label = 'Bytes', maxRows = 16 }: HexViewProps): ReactNode {
  const width = useIsPhone() ? 8 : 16;
  const total = Math.max(1, Math.ceil(bytes.length / width));
  const rows = Math.min(total, maxRows);
  const [first, setFirst] = useState(0);
  const from = Math.max(0, Math.min(first, total - 1) - beyond);
  const to = Math.min(total, first + rows + beyond);
  const scrolls = total > maxRows;
  return (
    <div
      role="group"
      aria-label={`${label}, ${plural(bytes.length, 'byte')}${match.length > 0 ? `, bytes ${rangesText(match)} marked` : ''}`}
      tabIndex={scrolls ? 0 : undefined}
      className="overflow-auto rounded-m border border-line bg-code-bg px-2 py-1.5"
      style={{ maxHeight: maxRows * lineHeight + 14 }}
      onScroll={(event) => setFirst(Math.floor(event.currentTarget.scrollTop / lineHeight))}
    >
      <div className="relative w-max min-w-full" style={{ height: total * lineHeight }}>
        {Array.from({ length: to - from }, (_, k) => from + k).map((row) => (
          <Line
            key={row}
            bytes={bytes}
            length={bytes.length}
            offset={row * width}
            width={width}
            match={match}
            top={row * lineHeight}
          />
        ))}
      </div>
    </div>
  );
}

interface LineProps {
  bytes: Uint8Array;
  length: number;
  offset: number;
  width: number;
  match: readonly ByteRange[];
  top: number;
}

const Line = memo(function Line({ bytes, length, offset, width, match, top }: LineProps): ReactNode {
  const line = hexLine(bytes, offset, width, match);
  const halves =
    width === 16
      ? ([
          [0, 8],
          [8, 16],
        ] as const)
      : ([[0, 8]] as const);
  return (
    <div className="mono absolute left-0 flex whitespace-pre leading-[18px]" style={{ top }}>
      <span className="pr-2.5 text-text-3 select-none">{offsetText(offset, length)}</span>
      {halves.map((half) => (
        // 8 pairs with 7 blanks.
        <span key={half[0]} className="w-[23ch] shrink-0 [&:not(:last-of-type)]:mr-2.5">
          {stretches(line, half).map((each, k) => (
            <span key={k}>
              {k > 0 && ' '}
              <span className={each.isMatch ? markLook : ''}>{each.hex}</span>
            </span>
          ))}
        </span>
      ))}
      <span className="pl-2.5 text-text-1">
        {stretches(line, [0, width]).map((each, k) => (
          <span key={k} className={each.isMatch ? markLook : ''}>
            {each.text}
          </span>
        ))}
      </span>
    </div>
  );
});

/** A line below too: not by color alone, and there with forced colors. */
const markLook = 'bg-match-bg border-b border-accent';

function rangesText(match: readonly ByteRange[]): string {
  return match
    .slice(0, 5)
    .map(({ from, to }) => `${from} to ${to - 1}`)
    .join(', ');
}
