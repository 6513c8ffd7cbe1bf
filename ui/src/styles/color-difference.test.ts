import { describe, expect, it } from 'vitest';
import { colorDifference, labDifference } from './color-difference.ts';
import { linearColor } from './token-colors.ts';

type Lab = [number, number, number];

/** Sharma, Wu, Dalal 2005, table 1: pairs that show mistakes in the branches of the formula. */
const published: [Lab, Lab, number][] = [
  [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
  [[50, -1.3802, -84.2814], [50, 0, -82.7485], 1],
  [[50, 0, 0], [50, -1, 2], 2.3669],
  [[50, 2.49, -0.001], [50, -2.49, 0.0009], 7.1792],
  [[50, 2.49, -0.001], [50, -2.49, 0.0011], 7.2195],
  [[50, -0.001, 2.49], [50, 0.0011, -2.49], 4.7461],
  [[50, 2.5, 0], [50, 0, -2.5], 4.3065],
  [[50, 2.5, 0], [73, 25, -18], 27.1492],
  [[50, 2.5, 0], [56, -27, -3], 31.903],
  [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
  [[22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619], 2.0373],
  [[90.8027, -2.0831, 1.441], [91.1528, -1.6435, 0.0447], 1.4441],
  [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
];

describe('the difference of two colors', () => {
  it.each(published)('of %j and %j is %d', (one, other, difference) => {
    expect(labDifference(one, other)).toBeCloseTo(difference, 4);
    expect(labDifference(other, one)).toBeCloseTo(difference, 4);
  });

  it('is 100 from black to white and 0 from a color to itself', () => {
    const [black, white] = [linearColor('#000000'), linearColor('#ffffff')];
    expect(colorDifference(black, white)).toBeCloseTo(100, 3);
    expect(colorDifference(white, white)).toBeCloseTo(0, 6);
  });
});
