export interface HexViewProps {
  bytes: Uint8Array;
  /** Byte offsets that are marked, `to` exclusive. */
  match?: readonly { from: number; to: number }[];
  /** Name for screen readers: "First bytes that the service sent". */
  label?: string;
  /** Rows of 16 bytes in view before it scrolls; 16 unless set. */
  maxRows?: number;
}
