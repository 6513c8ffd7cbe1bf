import { producersOf, producerText } from '../../../domain/producer.ts';
import type { ExtraRow } from '../../../domain/result.ts';
import { jsonText } from '../../record/row-line.ts';
import { htmlText, shortenedHtml } from './text.ts';

/** Maximum number of values in the table; more are counted. */
const maxListedValues = 200;
/** Maximum length of a value, characters of JSON. */
const shownLength = 300;

/** Values under keys of plugins: the first ones of the record. */
export class ExtraTable {
  readonly #lines: string[] = [];
  #left = 0;

  add(row: ExtraRow): void {
    if (this.#lines.length < maxListedValues) this.#lines.push(extraLine(row));
    else this.#left += 1;
  }

  /** Empty without values. */
  *section(): Generator<string> {
    if (this.#lines.length === 0) return;
    const more = this.#left > 0 ? ` ${this.#left} more are in the JSON format.` : '';
    yield `<section id="extra" aria-labelledby="extra-title">
<h2 id="extra-title">Extra values</h2>
<div class="card scroll"><table><caption>Published under keys of their own.${more}</caption>
<thead><tr><th scope="col">Key</th><th scope="col">Where</th><th scope="col">Value</th><th scope="col">Plugin</th></tr></thead><tbody>
`;
    yield this.#lines.join('');
    yield '</tbody></table></div>\n</section>\n';
  }
}

function extraLine(row: ExtraRow): string {
  const { key, host, port, protocol, value } = row;
  const where = port === undefined ? host : `${host} ${port}${protocol ? `/${protocol}` : ''}`;
  const plugins = producersOf(row).map(producerText).join(', ');
  const cells = [where ?? '', shortenedHtml(jsonText(value), shownLength), plugins];
  return `<tr><th scope="row">${htmlText(key)}</th>${cells.map((cell) => `<td class="mono">${htmlText(cell)}</td>`).join('')}</tr>\n`;
}
