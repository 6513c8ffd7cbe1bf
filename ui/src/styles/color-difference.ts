import type { LinearColor } from './token-colors.ts';

/** CIELAB under D65: lightness, green to red, blue to yellow. */
type Lab = readonly [number, number, number];

/** A color by lightness, chroma and hue; the hue in radians, 0..2π. */
interface Polar {
  lightness: number;
  chroma: number;
  hue: number;
}

/**
 * CIEDE2000 difference of two colors: about 1 is the least that can be seen side by side. After Sharma, Wu, Dalal 2005, "The
 * CIEDE2000 color-difference formula", equations 2 to 22.
 */
export function colorDifference(one: LinearColor, other: LinearColor): number {
  return labDifference(labOf(one), labOf(other));
}

/** Exported for the test data of the paper, which is in CIELAB. */
export function labDifference(one: Lab, other: Lab): number {
  const [first, second] = polars(one, other);
  const meanLightness = (first.lightness + second.lightness) / 2;
  const meanChroma = (first.chroma + second.chroma) / 2;
  const hue = meanHue(first, second);
  const lightness = (second.lightness - first.lightness) / lightnessWeight(meanLightness);
  const chroma = (second.chroma - first.chroma) / (1 + 0.045 * meanChroma);
  const arc = 2 * Math.sqrt(first.chroma * second.chroma) * Math.sin(hueDifference(first, second) / 2);
  const turned = arc / (1 + 0.015 * meanChroma * hueWeight(hue));
  return Math.sqrt(lightness ** 2 + chroma ** 2 + turned ** 2 + rotation(meanChroma, hue) * chroma * turned);
}

function labOf([red, green, blue]: LinearColor): Lab {
  const x = curve((0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047);
  const y = curve(0.2126729 * red + 0.7151522 * green + 0.072175 * blue);
  const z = curve((0.0193339 * red + 0.119192 * green + 0.9503041 * blue) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** CIE 15, 8.2.1: a cube root with a straight part near black. */
function curve(value: number): number {
  return value > (6 / 29) ** 3 ? Math.cbrt(value) : value / (3 * (6 / 29) ** 2) + 4 / 29;
}

/** Stretches the first axis for colors near gray, by the mean chroma of both. */
function polars(one: Lab, other: Lab): [Polar, Polar] {
  const mean = (Math.hypot(one[1], one[2]) + Math.hypot(other[1], other[2])) / 2;
  const stretch = 1.5 - 0.5 * saturation(mean);
  return [polar(one, stretch), polar(other, stretch)];
}

function polar([lightness, a, b]: Lab, stretch: number): Polar {
  const angle = Math.atan2(b, a * stretch);
  return { lightness, chroma: Math.hypot(a * stretch, b), hue: angle < 0 ? angle + 2 * Math.PI : angle };
}

/** 0 for grays, toward 1 for strong colors. */
function saturation(chroma: number): number {
  return Math.sqrt(chroma ** 7 / (chroma ** 7 + 25 ** 7));
}

/** From the first to the second the short way round, -π..π; 0 when one of them is gray. */
function hueDifference(first: Polar, second: Polar): number {
  if (first.chroma * second.chroma === 0) return 0;
  const difference = second.hue - first.hue;
  if (difference > Math.PI) return difference - 2 * Math.PI;
  return difference < -Math.PI ? difference + 2 * Math.PI : difference;
}

function meanHue(first: Polar, second: Polar): number {
  const sum = first.hue + second.hue;
  if (first.chroma * second.chroma === 0) return sum;
  if (Math.abs(first.hue - second.hue) <= Math.PI) return sum / 2;
  return sum < 2 * Math.PI ? sum / 2 + Math.PI : sum / 2 - Math.PI;
}

function lightnessWeight(mean: number): number {
  const squared = (mean - 50) ** 2;
  return 1 + (0.015 * squared) / Math.sqrt(20 + squared);
}

function hueWeight(hue: number): number {
  return (
    1 -
    0.17 * Math.cos(hue - radians(30)) +
    0.24 * Math.cos(2 * hue) +
    0.32 * Math.cos(3 * hue + radians(6)) -
    0.2 * Math.cos(4 * hue - radians(63))
  );
}

/** Corrects blues, whose chroma and hue are not independent to the eye. */
function rotation(chroma: number, hue: number): number {
  const blue = Math.exp(-(((hue - radians(275)) / radians(25)) ** 2));
  return -2 * saturation(chroma) * Math.sin(radians(60) * blue);
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}
