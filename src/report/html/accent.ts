/** Relative luminance of the grounds that links stand on: the light and the dark page. */
const grounds = { light: luminance([255, 255, 255]), dark: luminance([16, 20, 23]) };

/** WCAG: contrast that text needs. */
const wantedContrast = 4.5;

/** The color of an operator, as `#rrggbb`, darker or lighter until links are readable on either page. */
export function readableAccent(color: string): { light: string; dark: string } {
  return {
    light: readableOn(color, grounds.light, 0),
    dark: readableOn(color, grounds.dark, 255),
  };
}

/** Mixes the color with black or white in steps of 5 %. */
function readableOn(color: string, ground: number, toward: 0 | 255): string {
  const parts = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  for (let share = 0; share <= 1; share += 0.05) {
    const mixed = parts.map((part) => Math.round(part + (toward - part) * share));
    if (contrast(luminance(mixed), ground) >= wantedContrast) return hexColor(mixed);
  }
  return hexColor([toward, toward, toward]);
}

function hexColor(parts: readonly number[]): string {
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/** WCAG 2.2, relative luminance of sRGB. */
function luminance(parts: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = parts.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: number, other: number): number {
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}
