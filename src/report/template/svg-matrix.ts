/** Affine matrix a, b, c, d, e, f of SVG: x' = ax + cy + e, y' = bx + dy + f. */
export type SvgMatrix = readonly [number, number, number, number, number, number];

export const identityMatrix: SvgMatrix = [1, 0, 0, 1, 0, 0];

/** Longest value of `transform`, characters. */
const maxTransformLength = 1000;

/** The inner one applies first. */
export function multiplyMatrices(outer: SvgMatrix, inner: SvgMatrix): SvgMatrix {
  const [a, b, c, d, e, f] = outer;
  const [g, h, i, j, k, l] = inner;
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

/** The matrix of a `transform`; null if it cannot be read. */
export function readTransform(text: string): SvgMatrix | null {
  if (text.length > maxTransformLength) return null;
  let matrix = identityMatrix;
  const rest = text.replace(
    /([A-Za-z]{1,10})\s{0,9}\(([^()]{0,200})\)[\s,]{0,9}/g,
    (_, name: string, values: string) => {
      const numbers = values.split(/[\s,]/).filter((part) => part !== '');
      const step = matrixOf(name, numbers.map(Number));
      if (step === null || !step.every(Number.isFinite)) return '?';
      matrix = multiplyMatrices(matrix, step);
      return '';
    },
  );
  return rest.trim() === '' && matrix.every(Number.isFinite) ? matrix : null;
}

function matrixOf(name: string, values: number[]): SvgMatrix | null {
  const [a = 0, b = 0, c = 0] = values;
  const count = values.length;
  if (name === 'matrix' && count === 6) return values as unknown as SvgMatrix;
  if (name === 'translate' && (count === 1 || count === 2)) return [1, 0, 0, 1, a, b];
  if (name === 'scale' && (count === 1 || count === 2)) return [a, 0, 0, count === 1 ? a : b, 0, 0];
  if (name === 'rotate' && (count === 1 || count === 3)) return rotation(a, b, c);
  if (name === 'skewX' && count === 1) return [1, 0, Math.tan(radians(a)), 1, 0, 0];
  if (name === 'skewY' && count === 1) return [1, Math.tan(radians(a)), 0, 1, 0, 0];
  return null;
}

function rotation(degrees: number, x: number, y: number): SvgMatrix {
  const [sin, cos] = [Math.sin(radians(degrees)), Math.cos(radians(degrees))];
  return [cos, sin, -sin, cos, x - cos * x + sin * y, y - sin * x - cos * y];
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}
