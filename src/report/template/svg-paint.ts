import type { VectorShape } from './report-template.ts';

/** How shapes are painted; groups pass it on to what they contain. */
export type SvgPaint = Pick<VectorShape, 'fill' | 'stroke' | 'strokeWidth' | 'evenOdd' | 'opacity'>;

export const usualPaint: SvgPaint = {
  fill: '#000000',
  stroke: null,
  strokeWidth: 1,
  evenOdd: false,
  opacity: 1,
};

/** The basic names of CSS. */
const namedColors: Record<string, string | null> = {
  none: null,
  transparent: null,
  black: '#000000',
  silver: '#c0c0c0',
  gray: '#808080',
  grey: '#808080',
  white: '#ffffff',
  maroon: '#800000',
  red: '#ff0000',
  purple: '#800080',
  fuchsia: '#ff00ff',
  green: '#008000',
  lime: '#00ff00',
  olive: '#808000',
  yellow: '#ffff00',
  navy: '#000080',
  blue: '#0000ff',
  teal: '#008080',
  aqua: '#00ffff',
  orange: '#ffa500',
};
/** Widest line, in units of the view box. */
const maxStrokeWidth = 100_000;

/** The paint with one attribute more; attributes that paint nothing leave it as it is. Null = a value that is not allowed. */
export function withPaint(paint: SvgPaint, name: string, value: string): SvgPaint | null {
  switch (name) {
    case 'fill':
    case 'stroke': {
      const color = readColor(value);
      return color === undefined ? null : { ...paint, [name]: color };
    }
    case 'stroke-width': {
      const width = numberOf(value.replace(/px$/, ''));
      return width === null || width > maxStrokeWidth ? null : { ...paint, strokeWidth: width };
    }
    case 'opacity': {
      const opacity = numberOf(value);
      return opacity === null || opacity > 1 ? null : { ...paint, opacity: paint.opacity * opacity };
    }
    case 'fill-rule':
      return value === 'evenodd' || value === 'nonzero' ? { ...paint, evenOdd: value === 'evenodd' } : null;
    default:
      return paint;
  }
}

/** `#rrggbb`; null = none; undefined = not a color. */
function readColor(value: string): string | null | undefined {
  const color = value.toLowerCase();
  if (Object.hasOwn(namedColors, color)) return namedColors[color];
  if (/^#[0-9a-f]{6}$/.test(color)) return color;
  return /^#[0-9a-f]{3}$/.test(color) ? color.replace(/[0-9a-f]/g, '$&$&') : undefined;
}

function numberOf(text: string): number | null {
  return /^(?:\d{1,9}(?:\.\d{0,20})?|\.\d{1,20})$/.test(text) ? Number(text) : null;
}
