import { readPathData } from './svg-path.ts';

/** Coordinates and lengths of a primitive by attribute name; absent = 0. */
type Lengths = (name: string) => number;

/** Attributes that place a shape; all but `points` and `d` are numbers. */
export const shapeAttributes: Readonly<Record<string, readonly string[]>> = {
  path: ['d'],
  rect: ['x', 'y', 'width', 'height', 'rx', 'ry'],
  circle: ['cx', 'cy', 'r'],
  ellipse: ['cx', 'cy', 'rx', 'ry'],
  line: ['x1', 'y1', 'x2', 'y2'],
  polyline: ['points'],
  polygon: ['points'],
};

/**
 * The path of a shape; empty for one that shows nothing.
 * @param text `d` or `points`
 * @returns null if the text cannot be read
 */
export function shapePath(element: string, length: Lengths, text: string): string | null {
  switch (element) {
    case 'path':
      return text.trim() === '' ? '' : readPathData(text);
    case 'rect':
      return rounded(rectPath(length));
    case 'circle':
      return rounded(ovalPath(length('cx'), length('cy'), length('r'), length('r')));
    case 'ellipse':
      return rounded(ovalPath(length('cx'), length('cy'), length('rx'), length('ry')));
    case 'line':
      return rounded(`M${length('x1')} ${length('y1')}L${length('x2')} ${length('y2')}`);
    default:
      return pointsPath(text, element === 'polygon');
  }
}

/** The numbers as in any other path. */
function rounded(path: string): string | null {
  return path === '' ? '' : readPathData(path);
}

function rectPath(length: Lengths): string {
  const [x, y, width, height] = [length('x'), length('y'), length('width'), length('height')];
  if (width <= 0 || height <= 0) return '';
  // One radius stands for both.
  const rx = Math.min(length('rx') || length('ry'), width / 2);
  const ry = Math.min(length('ry') || length('rx'), height / 2);
  if (rx <= 0 || ry <= 0) return `M${x} ${y}h${width}v${height}h${-width}Z`;
  const corner = (dx: number, dy: number) => `a${rx} ${ry} 0 0 1 ${dx} ${dy}`;
  const [across, down] = [width - 2 * rx, height - 2 * ry];
  return (
    `M${x + rx} ${y}h${across}${corner(rx, ry)}v${down}${corner(-rx, ry)}` +
    `h${-across}${corner(-rx, -ry)}v${-down}${corner(rx, -ry)}Z`
  );
}

function ovalPath(x: number, y: number, rx: number, ry: number): string {
  if (rx <= 0 || ry <= 0) return '';
  const half = (dx: number) => `a${rx} ${ry} 0 1 1 ${dx} 0`;
  return `M${x - rx} ${y}${half(2 * rx)}${half(-2 * rx)}Z`;
}

function pointsPath(text: string, isClosed: boolean): string | null {
  if (text.trim() === '') return '';
  // What is behind the first pair of a move are lines. Letters would be commands.
  if (/[^\d\s.,+\-eE]/.test(text)) return null;
  const path = readPathData(`M${text}`);
  return path === null ? null : `${path}${isClosed ? 'Z' : ''}`;
}
