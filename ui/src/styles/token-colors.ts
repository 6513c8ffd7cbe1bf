/** Red, green and blue, linear light, 0..1. */
export type LinearColor = readonly [number, number, number];
export type Theme = 'light' | 'dark';

/** How a reader sees: Machado, Oliveira, Fernandes 2009, severity 1.0, on linear light. */
export const sights = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
} as const;
export type Sight = keyof typeof sights;

const declaration = /--([\w-]+):\s*light-dark\(\s*(#[0-9a-f]{6})\s*,\s*(#[0-9a-f]{6})\s*\)/g;

/** The opaque colors of a style sheet by the name of their token. */
export function colorsOf(css: string): Map<string, Record<Theme, LinearColor>> {
  const found = [...css.matchAll(declaration)];
  return new Map(found.map(([, name = '', light = '', dark = '']) => [name, both(light, dark)]));
}

function both(light: string, dark: string): Record<Theme, LinearColor> {
  return { light: linearColor(light), dark: linearColor(dark) };
}

/** @param hex `#rrggbb` in sRGB */
export function linearColor(hex: string): LinearColor {
  return [channel(hex, 1), channel(hex, 3), channel(hex, 5)];
}

function channel(hex: string, at: number): number {
  const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

/** Contrast of WCAG 2.2, 1..21. */
export function contrast(one: LinearColor, other: LinearColor): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance([red, green, blue]: LinearColor): number {
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The color as a reader with this sight sees it. */
export function seenBy(sight: Sight, color: LinearColor): LinearColor {
  const [red, green, blue] = sights[sight];
  return [mixed(red, color), mixed(green, color), mixed(blue, color)];
}

function mixed(weights: LinearColor, color: LinearColor): number {
  const sum = weights[0] * color[0] + weights[1] * color[1] + weights[2] * color[2];
  return Math.min(1, Math.max(0, sum));
}
