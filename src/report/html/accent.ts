import { contrastRatio, partsOfColor, readableContrast } from '../template/contrast.ts';

/** Ground of the dark page. */
const darkPage = [16, 20, 23];

/**
 * The color of an operator, `#rrggbb`, lighter until links are readable on the dark page: mixed with white in steps of
 * 5 %. On the light page it is readable as it is, a template is checked for that.
 */
export function accentOnDark(color: string): string {
  const parts = partsOfColor(color);
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = parts.map((part) => Math.round(part + (255 - part) * share));
    if (contrastRatio(mixed, darkPage) >= readableContrast) return hexColor(mixed);
  }
  return '#ffffff';
}

function hexColor(parts: readonly number[]): string {
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}
