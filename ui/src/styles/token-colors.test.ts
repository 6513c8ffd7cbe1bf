import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { colorDifference } from './color-difference.ts';
import { colorsOf, contrast, linearColor, type Sight, seenBy, sights, type Theme } from './token-colors.ts';

const css = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');
const colors = colorsOf(css);
const themes: Theme[] = ['light', 'dark'];

const surfaces = ['surface-0', 'surface-1', 'surface-2', 'surface-3', 'surface-overlay'];
const severities = ['critical', 'high', 'medium', 'low', 'info'];
const states = ['running', 'completed', 'failed', 'paused', 'interrupted', 'pending'].map(
  (name) => `state-${name}`,
);
const differences = ['new', 'fixed', 'changed'].map((name) => `diff-${name}`);
const severityTexts = severities.map((name) => `sev-${name}`);
const severityMarks = severities.map((name) => `sev-${name}-mark`);

/** Contrasts of WCAG 2.2: text (AA), long text (AAA), marks and edges of controls (1.4.11). */
const [text, body, mark] = [4.5, 7, 3];

/** A color, a ground that it stands on, and the least contrast. */
type Promised = [color: string, ground: string, least: number];

const onSurfaces = surfaces.flatMap((ground) => [
  ...['text-1', 'text-2'].map((name): Promised => [name, ground, body]),
  ...['text-3', 'accent-text', ...severityTexts, ...states, ...differences].map(
    (name): Promised => [name, ground, text],
  ),
  ...['line-control', 'focus', ...severityMarks].map((name): Promised => [name, ground, mark]),
]);
const onSelectedRows: Promised[] = [
  ['text-1', 'accent-soft', body],
  ...['text-2', 'text-3', 'accent-text', ...severityTexts, ...states].map(
    (name): Promised => [name, 'accent-soft', text],
  ),
  ...severityMarks.map((name): Promised => [name, 'accent-soft', mark]),
];
const onChips: Promised[] = [
  ...severityTexts.map((name): Promised => [name, `${name}-bg`, text]),
  ...severityMarks.map((name): Promised => [name, name.replace(/mark$/, 'bg'), mark]),
  ...differences.map((name): Promised => [name, `${name}-bg`, text]),
  ...differences.flatMap((name) => ['text-1', 'text-2'].map((each): Promised => [each, `${name}-bg`, text])),
  ['text-1', 'sev-medium-bg', body],
  ['text-2', 'sev-medium-bg', text],
];
const onOthers: Promised[] = [
  ['on-accent', 'accent', text],
  ['on-accent', 'accent-hover', text],
  ['text-1', 'match-bg', body],
  ['text-inverse', 'surface-inverse', body],
  ...['key', 'string', 'number', 'comment'].map((name): Promised => [`code-${name}`, 'code-bg', text]),
];

function color(name: string, theme: Theme) {
  const found = colors.get(name)?.[theme];
  if (!found) throw new Error(`tokens.css has no color --${name}`);
  return found;
}

describe('the colors of tokens.css', () => {
  it.each(themes)('have the promised contrast in the %s theme', (theme) => {
    const promised = [...onSurfaces, ...onSelectedRows, ...onChips, ...onOthers];
    expect(promised.length).toBe(174);
    const broken = promised
      .map(([name, ground, least]) => ({ name, ground, least, ratio: ratioOf(name, ground, theme) }))
      .filter(({ ratio, least }) => ratio < least);
    expect(broken).toEqual([]);
  });

  const looks = themes.flatMap((theme) =>
    (Object.keys(sights) as Sight[]).flatMap((sight) =>
      ['', '-mark'].map((kind) => ({ theme, sight, kind })),
    ),
  );
  it.each(looks)(
    'keep severities$kind apart in the $theme theme with $sight sight',
    ({ theme, sight, kind }) => {
      const seen = severities.map((name) => seenBy(sight, color(`sev-${name}${kind}`, theme)));
      const pairs = seen.flatMap((one, index) => seen.slice(index + 1).map((other) => [one, other] as const));
      expect(pairs.length).toBe(10);
      expect(Math.min(...pairs.map(([one, other]) => colorDifference(one, other)))).toBeGreaterThanOrEqual(
        10,
      );
    },
  );

  it('are all there in both themes', () => {
    const named = [...css.matchAll(/--([\w-]+):\s*light-dark\(\s*#/g)].map(([, name]) => name);
    expect([...colors.keys()]).toEqual(named);
    expect(named.length).toBe(60);
  });
});

describe('a contrast', () => {
  it('is 21 of black on white and 1 of a color on itself', () => {
    const [black, white] = [linearColor('#000000'), linearColor('#ffffff')];
    expect(contrast(black, white)).toBeCloseTo(21, 6);
    expect(contrast(white, white)).toBe(1);
    // The gray that WebAIM and others give as the lightest for text on white.
    expect(contrast(linearColor('#767676'), white)).toBeCloseTo(4.54, 2);
  });
});

function ratioOf(name: string, ground: string, theme: Theme): number {
  return contrast(color(name, theme), color(ground, theme));
}
