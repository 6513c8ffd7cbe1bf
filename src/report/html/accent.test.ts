import { expect, it } from 'vitest';
import { accentOnDark } from './accent.ts';

it('a color that is readable on the dark page stays as it is', () => {
  expect(accentOnDark('#5cc4d2')).toBe('#5cc4d2');
});

it('a dark color is lighter on the dark page, until links are readable', () => {
  for (const color of ['#000000', '#336699', '#7a0010']) {
    expect(contrast(accentOnDark(color), '#101417')).toBeGreaterThanOrEqual(4.5);
  }
});

/** WCAG 2.2, counted another way: with the simple gamma of 2.2, close enough for these colors. */
function contrast(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [one, other].map(luminance).sort((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map(
    (at) => (Number.parseInt(color.slice(at, at + 2), 16) / 255) ** 2.2,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
