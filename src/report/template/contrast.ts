/** Contrast that text needs (WCAG 2.2, AA). */
export const readableContrast = 4.5;

/** Contrast ratio of two colors (WCAG 2.2), given as red, green and blue of 0 to 255; 1 to 21. */
export function contrastRatio(one: readonly number[], other: readonly number[]): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** Red, green and blue of `#rrggbb`. */
export function partsOfColor(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}

/** Relative luminance of sRGB (WCAG 2.2), 0 to 1. */
function luminance(parts: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = parts.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
