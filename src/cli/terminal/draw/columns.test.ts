import { describe, expect, it } from 'vitest';
import { drawFacts, drawTable, type Narrowing, type TableColumn, wrapWords } from './columns.ts';
import { columnsOf } from './printable.ts';
import type { TerminalStyle } from './style.ts';

interface Row {
  id: string;
  ports: number | null;
  note: string;
}

const columns: TableColumn<Row>[] = [
  { head: 'ID', cell: ({ id }) => id },
  { head: 'PORTS', cell: ({ ports }) => ports },
  { head: 'NOTE', cell: ({ note }) => note, over: 'end' },
];
const rows: Row[] = [
  { id: 'scan-1', ports: 65_536, note: 'the first of them all' },
  { id: 'scan-22', ports: null, note: '' },
  { id: 'scan-3', ports: 0, note: '世界' },
];
const terminal = (wide: number, more: Partial<TerminalStyle> = {}): TerminalStyle => ({
  columns: wide,
  terminal: true,
  color: false,
  ascii: false,
  ...more,
});
const pipe = terminal(20, { terminal: false });

const draw = (style: TerminalStyle, narrowing: Narrowing = [], drawn = columns) =>
  drawTable(drawn, rows, style, narrowing).trimEnd().split('\n');

describe('a table', () => {
  it('has texts left and numbers right, heads as their cells, two blanks between', () => {
    expect(draw(terminal(80))).toEqual([
      'ID        PORTS  NOTE',
      'scan-1   65,536  the first of them all',
      'scan-22       –',
      'scan-3        0  世界',
    ]);
  });

  it('is whole where nobody can widen the window', () => {
    expect(draw(pipe, [['NOTE', 0]])).toEqual(draw(terminal(80)));
  });

  it('lets columns give way in the order of its steps', () => {
    const steps: Narrowing = [
      ['NOTE', 8],
      ['PORTS', 0],
      ['NOTE', 0],
    ];
    expect(draw(terminal(30), steps)[1]).toBe('scan-1   65,536  the first of…');
    expect(draw(terminal(25), steps)[1]).toBe('scan-1   65,536  the fir…');
    expect(draw(terminal(24), steps)).toEqual([
      'ID       NOTE',
      'scan-1   the fir…',
      'scan-22',
      'scan-3   世界',
    ]);
    expect(draw(terminal(10), steps)).toEqual(['ID', 'scan-1', 'scan-22', 'scan-3']);
  });

  it('gives each row a second line where nothing can give way any more', () => {
    expect(draw(terminal(20), [['NOTE', 12]])).toEqual([
      'ID        PORTS',
      '  NOTE',
      'scan-1   65,536',
      '  the first o…',
      'scan-22       –',
      'scan-3        0',
      '  世界',
    ]);
  });

  it('breaks prose between words', () => {
    const prose = columns.map((column) => ({ ...column, ...(column.over && { over: 'wrap' as const }) }));
    expect(draw(terminal(30), [['NOTE', 8]], prose).slice(1, 4)).toEqual([
      'scan-1   65,536  the first of',
      '                 them all',
      'scan-22       –',
    ]);
  });

  it('cuts in the middle what differs at both ends', () => {
    const names = columns.map((column) => ({ ...column, ...(column.over && { over: 'middle' as const }) }));
    expect(draw(terminal(26), [['NOTE', 8]], names)[1]).toBe('scan-1   65,536  the … all');
  });

  it.each([20, 26, 31, 40])('fits into %i columns', (wide) => {
    for (const line of draw(terminal(wide), [['NOTE', 8]])) expect(columnsOf(line)).toBeLessThanOrEqual(wide);
  });

  it('has only ASCII where the terminal draws other glyphs wide or not at all', () => {
    const text = draw(terminal(30, { ascii: true }), [['NOTE', 8]]);
    expect(text.slice(1, 3)).toEqual(['scan-1   65,536  the first ...', 'scan-22       -']);
  });

  it('colors the text of a cell, not the blanks beside it', () => {
    const [first, ...others] = columns as [TableColumn<Row>, TableColumn<Row>, TableColumn<Row>];
    const painted = drawTable(
      [{ ...first, paint: () => 'red' }, ...others],
      rows,
      terminal(80, { color: true }),
    );
    expect(painted.split('\n').slice(0, 2)).toEqual([
      '\x1b[2mID        PORTS  NOTE\x1b[22m',
      '\x1b[31mscan-1\x1b[39m   65,536  the first of them all',
    ]);
  });

  it('shows control characters instead of sending them', () => {
    const hostile = [{ id: 'a\x1b[2J\n', ports: 1, note: '\u202e' }];
    expect(drawTable(columns, hostile, pipe).split('\n')[1]).toBe('a\\x1b[2J\\x0a      1  \\u{202e}');
  });
});

describe('facts', () => {
  const facts = [
    ['name', 'a text of some words'],
    ['longer', 'short'],
  ] as const;

  it('are names and values in two columns, broken between words only in a terminal', () => {
    expect(drawFacts(facts, pipe)).toBe('name    a text of some words\nlonger  short\n');
    expect(drawFacts([['name', 'a text of some more words']], terminal(26))).toBe(
      'name  a text of some more\n      words\n',
    );
  });
});

describe('prose', () => {
  it('keeps a word that is too long whole', () => {
    expect(wrapWords('see https://example.net/very/long now', 10)).toEqual([
      'see',
      'https://example.net/very/long',
      'now',
    ]);
  });
});
