import type { RowPlace } from '../record/scan-record.ts';
import { NumberColumn } from './columns.ts';

/** Places of rows that newer ones complete: a list per member, in columns. */
export class OlderRows {
  /** By member: number of its newest entry + 1. */
  readonly #heads = new NumberColumn('whole');
  readonly #offset = new NumberColumn('whole');
  readonly #length = new NumberColumn('whole');
  /** Number of the entry before + 1. */
  readonly #before = new NumberColumn('whole');
  #count = 0;

  push(member: number, { offset, length }: RowPlace): void {
    const entry = this.#count++;
    this.#offset.set(entry, offset);
    this.#length.set(entry, length);
    this.#before.set(entry, this.#heads.get(member));
    this.#heads.set(member, this.#count);
  }

  /** Oldest first. */
  of(member: number): RowPlace[] {
    const places: RowPlace[] = [];
    for (let entry = this.#heads.get(member); entry > 0; entry = this.#before.get(entry - 1))
      places.push({ offset: this.#offset.get(entry - 1), length: this.#length.get(entry - 1) });
    return places.reverse();
  }
}
