import type { Severity } from '../../../domain/finding.ts';
import type { Face } from './fonts.ts';

/** Colors of the light theme. */
export const colors = {
  text: '#151a1d',
  second: '#434d53',
  third: '#616b72',
  headLine: '#c3cbce',
  rowLine: '#dfe4e5',
  evidence: '#f7f8f8',
  match: '#cfe9ed',
  link: '#0a6878',
  chip: '#1b2226',
  white: '#ffffff',
  bar: '#b7bfc3',
} as const;

export const severityColors: Record<Severity, { text: string; mark: string }> = {
  critical: { text: '#740c49', mark: '#921659' },
  high: { text: '#8a2210', mark: '#b93312' },
  medium: { text: '#8b6200', mark: '#b07d00' },
  low: { text: '#2b50b8', mark: '#3f68d0' },
  info: { text: '#5b646a', mark: '#7d858b' },
};

export const signColors = {
  new: { text: '#b3261e', ground: '#fdecea' },
  fixed: { text: '#1f6f43', ground: '#e6f4ec' },
  changed: { text: '#434d53', ground: '#eef0f1' },
} as const;

export interface Style {
  face: Face;
  /** Points, as the line height. */
  size: number;
  line: number;
  color: string;
  /** Digits of equal width: in number cells only, in names they would widen the text. */
  tabular?: boolean;
  /** Distance between characters beyond that of the font, in 1/1000 em. */
  tracking?: number;
}

function style(face: Face, size: number, line: number, color: string = colors.text): Style {
  return { face, size, line, color };
}

/** The type scale. */
export const styles = {
  kicker: style('regular', 10, 13, colors.third),
  title: { ...style('semibold', 32, 38), tracking: -16 },
  scope: style('regular', 11, 15, colors.second),
  scopeMono: style('mono', 10.2, 15, colors.second),
  verdict: { ...style('medium', 17, 24), tracking: -6 },
  large: { ...style('semibold', 34, 36), tracking: -20 },
  brand: style('semibold', 11, 14),
  h1: { ...style('semibold', 20, 24), tracking: -10 },
  h2: style('semibold', 12, 16),
  h3: style('semibold', 10, 14),
  hostTitle: style('mono', 11, 16),
  hostName: style('regular', 10, 16, colors.second),
  h3Mono: style('mono', 9.4, 14),
  lead: style('regular', 10, 15, colors.second),
  leadStrong: style('semibold', 10, 15),
  body: style('regular', 9, 13),
  bodySecond: style('regular', 9, 13, colors.second),
  bodyThird: style('regular', 9, 13, colors.third),
  bodyStrong: style('medium', 9, 13),
  cell: style('regular', 8.5, 11),
  cellSecond: style('regular', 8.5, 11, colors.second),
  cellThird: style('regular', 8.5, 11, colors.third),
  cellMedium: style('medium', 8.5, 11),
  cellStrong: style('semibold', 8.5, 11),
  number: { ...style('regular', 8.5, 11), tabular: true },
  numberStrong: { ...style('semibold', 8.5, 11), tabular: true },
  entry: style('medium', 9.5, 14),
  entryPage: style('regular', 9.5, 14),
  actionMedium: style('medium', 9, 12.5),
  action: style('semibold', 9, 12.5),
  reason: style('regular', 8, 11, colors.second),
  reasonSmall: style('regular', 7.5, 11, colors.second),
  head: style('medium', 7.5, 10, colors.third),
  label: style('regular', 7.5, 10, colors.third),
  labelStrong: style('medium', 7.5, 10),
  labelSecond: style('regular', 7.5, 10, colors.second),
  note: style('regular', 7.5, 10, colors.second),
  mono: style('mono', 7.9, 11),
  monoSmall: style('mono', 7.5, 11),
  monoBody: style('mono', 8, 13, colors.second),
  monoHosts: style('mono', 7, 11, colors.third),
  monoThird: style('mono', 7.5, 11, colors.third),
  monoLabel: style('mono', 6.9, 10, colors.third),
  evidence: style('mono', 7.5, 11),
  versionSeen: style('semibold', 6.9, 10),
  versionEnd: style('regular', 7, 10, colors.second),
  chip: style('medium', 7, 11, colors.white),
} satisfies Record<string, Style>;

export function colored(style: Style, color: string): Style {
  return { ...style, color };
}
