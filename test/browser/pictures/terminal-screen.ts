/** How a cell looks. */
export interface Style {
  color: string | null;
  bold: boolean;
  dim: boolean;
  inverted: boolean;
}

/** Cells of one look, side by side. */
export interface Run {
  column: number;
  text: string;
  style: Style;
}

interface Cell {
  character: string;
  style: Style;
}

const plain: Style = { color: null, bold: false, dim: false, inverted: false };
const blank: Cell = { character: ' ', style: plain };
/** Names of the colors 30 to 37 and 90 to 97 of SGR. */
const colors = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

/**
 * What a terminal shows of the output of a program: text, line feeds, colors, and the few sequences that rewrite lines.
 * Its rows are as many as were written, nothing scrolls away.
 */
export class TerminalScreen {
  readonly #rows: Cell[][] = [[]];
  readonly #columns: number;
  #row = 0;
  #column = 0;
  #style: Style = plain;
  #unread = '';

  constructor(columns: number) {
    this.#columns = columns;
  }

  /** Takes output as it comes; a sequence may be cut in two. @throws Error for a sequence that it does not know */
  write(output: string): void {
    let text = this.#unread + output;
    this.#unread = /\x1b(?:\[[?\d;]*)?$/.exec(text)?.[0] ?? '';
    text = text.slice(0, text.length - this.#unread.length);
    for (const [part, parameters, final] of text.matchAll(/\x1b\[([?\d;]*)([A-Za-z])|[\s\S]/gu)) {
      if (final !== undefined) this.#control(parameters ?? '', final);
      else this.#put(part);
    }
  }

  /** The rows as runs of one look, without blanks at their ends. */
  rows(): Run[][] {
    return this.#rows.map((cells) => {
      const runs: Run[] = [];
      for (const [column, { character, style }] of cells.entries()) {
        const last = runs.at(-1);
        if (last && sameLook(last.style, style) && last.column + [...last.text].length === column)
          last.text += character;
        else runs.push({ column, text: character, style });
      }
      return runs.filter(({ text, style }) => text.trim() !== '' || style.inverted);
    });
  }

  #put(character: string): void {
    if (character === '\r') this.#column = 0;
    else if (character === '\n') this.#down(1);
    else if (character >= ' ') {
      if (this.#column >= this.#columns) {
        this.#down(1);
        this.#column = 0;
      }
      const cells = this.#cells();
      while (cells.length < this.#column) cells.push(blank);
      cells[this.#column] = { character, style: this.#style };
      this.#column += 1;
    }
  }

  #control(parameters: string, final: string): void {
    const count = Math.max(1, Number.parseInt(parameters, 10) || 1);
    switch (final) {
      case 'A':
        this.#row = Math.max(0, this.#row - count);
        break;
      case 'B':
        this.#down(count);
        break;
      case 'C':
        this.#column += count;
        break;
      case 'D':
        this.#column = Math.max(0, this.#column - count);
        break;
      case 'E':
        this.#down(count);
        this.#column = 0;
        break;
      case 'F':
        this.#row = Math.max(0, this.#row - count);
        this.#column = 0;
        break;
      case 'G':
        this.#column = count - 1;
        break;
      case 'K':
        this.#cells().length = Math.min(this.#cells().length, parameters === '2' ? 0 : this.#column);
        break;
      case 'J':
        this.#cells().length = Math.min(this.#cells().length, this.#column);
        this.#rows.length = this.#row + 1;
        break;
      case 'm':
        for (const code of parameters.split(';')) this.#look(Number(code));
        break;
      case 'h':
      case 'l':
        break;
      default:
        throw new Error(`unknown control sequence: ESC [ ${parameters} ${final}`);
    }
  }

  #look(code: number): void {
    const color = code >= 90 ? colors[code - 90] : colors[code - 30];
    if (code === 0) this.#style = plain;
    else if (code === 1) this.#style = { ...this.#style, bold: true };
    else if (code === 2) this.#style = { ...this.#style, dim: true };
    else if (code === 22) this.#style = { ...this.#style, bold: false, dim: false };
    else if (code === 7 || code === 27) this.#style = { ...this.#style, inverted: code === 7 };
    else if (code === 39) this.#style = { ...this.#style, color: null };
    else if (color !== undefined) this.#style = { ...this.#style, color };
  }

  #cells(): Cell[] {
    const cells = this.#rows[this.#row] ?? [];
    this.#rows[this.#row] = cells;
    return cells;
  }

  #down(count: number): void {
    this.#row += count;
    while (this.#rows.length <= this.#row) this.#rows.push([]);
  }
}

function sameLook(one: Style, other: Style): boolean {
  return (
    one.color === other.color &&
    one.bold === other.bold &&
    one.dim === other.dim &&
    one.inverted === other.inverted
  );
}
