import type { Style } from '../type/styles.ts';
import { gap, type Piece, type Typefaces, textWidth, whole } from '../type/text-layout.ts';

/** Points between the parts of a name: only what stands apart may be parted. */
const partGap = 0.01;

/** The name of a host. What does not fit into `width` points may be parted behind its dots and hyphens. */
export function hostNamePieces(faces: Typefaces, name: string, style: Style, width: number): Piece[] {
  if (textWidth(faces, name, style) <= width) return [whole(name, style)];
  return name.split(/(?<=[.-])/).flatMap((part) => [whole(part, style), gap(partGap)]);
}
