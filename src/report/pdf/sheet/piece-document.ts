import PdfKitDocument from 'pdfkit';

/** Written at once, bytes. */
const pieceSize = 65_536;

/**
 * A document that collects what it writes. pdfkit turns each operator of a page and each line of an object into an
 * array of bytes of its own: hundreds of thousands of small ones, that take more memory than all the rest.
 */
export class PieceDocument extends PdfKitDocument {
  // Without initial values: the constructor of pdfkit already writes.
  declare private pending: string | undefined;
  declare private operators: string[] | undefined;
  /** Bytes that were written: pdfkit notes from it where objects begin. */
  declare private _offset: number;

  override addContent(operators: string): this {
    this.operators ??= [];
    this.operators.push(operators);
    return this;
  }

  /** Hands the operators to the page, before it ends. */
  endContent(): void {
    if (this.operators === undefined || this.operators.length === 0) return;
    this.page.write(this.operators.join('\n'));
    this.operators = [];
  }

  /** Characters are bytes. */
  _write(data: string | Uint8Array): void {
    if (typeof data !== 'string') {
      this.flush();
      this.push(data);
      this._offset += data.length;
      return;
    }
    this.pending = `${this.pending ?? ''}${data}\n`;
    this._offset += data.length + 1;
    if (this.pending.length >= pieceSize) this.flush();
  }

  override push(chunk: Uint8Array | null): boolean {
    if (chunk === null) this.flush();
    return super.push(chunk);
  }

  private flush(): void {
    if (!this.pending) return;
    const bytes = Buffer.from(this.pending, 'latin1');
    this.pending = '';
    super.push(bytes);
  }

  /** Takes the pieces that are complete; after the end, all that is left. */
  *written(): Generator<Uint8Array> {
    for (let chunk = this.read(); chunk !== null; chunk = this.read()) yield chunk as Uint8Array;
  }
}
