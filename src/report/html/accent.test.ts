import { expect, it } from 'vitest';
import { readableAccent } from './accent.ts';

it('a readable color stays as it is', () => {
  expect(readableAccent('#336699').light).toBe('#336699');
  expect(readableAccent('#5cc4d2').dark).toBe('#5cc4d2');
});

it('a color is darker on the light page and lighter on the dark one, until links are readable', () => {
  const { light, dark } = readableAccent('#ffee00');
  expect(dark).toBe('#ffee00');
  expect(contrast(light, '#ffffff')).toBeGreaterThanOrEqual(4.5);
  const black = readableAccent('#000000');
  expect(black.light).toBe('#000000');
  expect(contrast(black.dark, '#101417')).toBeGreaterThanOrEqual(4.5);
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
