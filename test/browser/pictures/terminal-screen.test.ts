import { describe, expect, it } from 'vitest';
import { TerminalScreen } from './terminal-screen.ts';

function shown(...outputs: string[]): string[] {
  const screen = new TerminalScreen(10);
  for (const output of outputs) screen.write(output);
  return screen.rows().map((runs) => runs.reduce((row, { column, text }) => row.padEnd(column) + text, ''));
}

describe('TerminalScreen', () => {
  it.each([
    ['lines', ['one\r\ntwo\r\n'], ['one', 'two', '']],
    ['a line that is written anew', ['10 %\r\x1b[2K20 %'], ['20 %']],
    ['a block that is replaced', ['a\r\nb\r\n\x1b[2A\x1b[Jc\r\n'], ['c', '']],
    ['a sequence that comes in two parts', ['a\x1b', '[2', 'Kb'], [' b']],
    ['a line that is wider than the terminal', ['0123456789ab'], ['0123456789', 'ab']],
  ])('shows %s', (_what, outputs, rows) => {
    expect(shown(...outputs)).toEqual(rows);
  });

  it('has the colors of each run', () => {
    const screen = new TerminalScreen(80);
    screen.write('a \x1b[1;31mred\x1b[0m b');
    expect(screen.rows()).toEqual([
      [
        expect.objectContaining({ column: 0, text: 'a ' }),
        { column: 2, text: 'red', style: { color: 'red', bold: true, dim: false, inverted: false } },
        expect.objectContaining({ column: 5, text: ' b' }),
      ],
    ]);
  });
});
