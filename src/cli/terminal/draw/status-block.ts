import { columnsOf } from './printable.ts';

/** Minimum interval between redraws, milliseconds. */
const redrawMs = 200;
/** What ends earlier shows no status. */
const quietMs = 400;
/** Width and height where the stream does not say, columns and rows. */
const usualColumns = 80;
const usualRows = 24;

/** Output stream; process.stderr in the program. */
export interface BlockStream {
  columns?: number;
  rows?: number;
  write(text: string): unknown;
  on?(event: 'resize', listener: () => void): unknown;
  off?(event: 'resize', listener: () => void): unknown;
}

/** Lines that are rewritten in place at most five times a second, and are gone at the end. */
export class StatusBlock {
  readonly #stream: BlockStream;
  readonly #compose: (columns: number, rows: number) => string[];
  readonly #timer: NodeJS.Timeout;
  readonly #beginsAt = performance.now() + quietMs;
  /** The lines on the screen, without colors counted in their width. */
  #drawn: number[] = [];
  #isOver = false;

  /** @param compose lines of at most so many columns, at most so many */
  constructor(stream: BlockStream, compose: (columns: number, rows: number) => string[]) {
    this.#stream = stream;
    this.#compose = compose;
    this.#timer = setInterval(() => this.#draw(), redrawMs);
    this.#timer.unref();
    stream.on?.('resize', this.#redraw);
    process.on('SIGTSTP', this.#suspend);
    process.on('SIGCONT', this.#redraw);
  }

  /** Writes above the block, to any stream of the same terminal. */
  above(write: () => void): void {
    this.#erase();
    write();
    this.#draw();
  }

  /** Removes the block for good. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#stream.off?.('resize', this.#redraw);
    process.off('SIGTSTP', this.#suspend);
    process.off('SIGCONT', this.#redraw);
    this.#erase();
  }

  readonly #redraw = (): void => {
    this.#erase();
    this.#draw();
  };

  readonly #suspend = (): void => {
    this.#erase();
    process.kill(process.pid, 'SIGSTOP');
  };

  #draw(): void {
    if (this.#isOver || performance.now() < this.#beginsAt) return;
    // Leave one column free: a full line wraps on some terminals.
    const columns = (this.#stream.columns || usualColumns) - 1;
    const lines = this.#compose(columns, this.#stream.rows || usualRows);
    const erased = this.#erasure();
    this.#drawn = lines.map((line) => columnsOf(line.replaceAll(/\x1b\[\d+m/g, '')));
    if (erased + lines.join('') !== '') this.#stream.write(erased + lines.join('\n'));
  }

  #erase(): void {
    const erasure = this.#erasure();
    this.#drawn = [];
    if (erasure !== '') this.#stream.write(erasure);
  }

  /** The cursor is at the end of the last line. A terminal that became narrower has wrapped the lines. */
  #erasure(): string {
    if (this.#drawn.length === 0) return '';
    const columns = this.#stream.columns || usualColumns;
    const rows = this.#drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    return `\r\x1b[2K${'\x1b[1A\x1b[2K'.repeat(rows - 1)}`;
  }
}
