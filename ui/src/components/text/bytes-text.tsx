import type { ReactNode } from 'react';
import { bytes, count } from '../../format/numbers.ts';

export interface BytesTextProps {
  bytes: number | null | undefined;
}

/** `4.1 MB`, the exact number as tooltip. */
export function BytesText({ bytes: number }: BytesTextProps): ReactNode {
  return (
    <span
      className="whitespace-nowrap"
      title={typeof number === 'number' ? `${count(number)} bytes` : undefined}
    >
      {bytes(number)}
    </span>
  );
}
