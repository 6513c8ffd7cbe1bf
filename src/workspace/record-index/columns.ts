import { IdTable } from './id-table.ts';

/** Values of one kind, by number of their member; they grow, and take as few bytes each as they can. */

type Bytes = Uint8Array<ArrayBuffer>;
type Integers = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;
type Values = Integers | Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

const kinds = {
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;
export type ColumnKind = keyof typeof kinds;

/** A column as it is stored. */
export interface StoredColumn {
  kind: ColumnKind;
  bytes: Uint8Array;
  /** Of texts: their numbers in the pool by code; null for a column of such numbers. */
  dictionary: Uint8Array | null;
}

function made(kind: ColumnKind, length: number): Values {
  return new kinds[kind](length) as Values;
}

function restored(kind: ColumnKind, bytes: Uint8Array): Values {
  const { BYTES_PER_ELEMENT: size } = kinds[kind];
  // Only aligned bytes can be used in place.
  const own = bytes.byteOffset % size === 0 ? bytes : new Uint8Array(bytes);
  return new kinds[kind](own.buffer as ArrayBuffer, own.byteOffset, own.byteLength / size) as Values;
}

function bytesOf(values: Values, length: number): Bytes {
  return new Uint8Array(values.buffer, values.byteOffset, length * values.BYTES_PER_ELEMENT);
}

/** The first values in memory of their own, unless little of it is unused. */
function exact(values: Values, length: number): Values {
  return values.length > length * 1.01 + 1024 ? (values.slice(0, length) as Values) : values;
}

/** Growth keeps copying linear and the unused rest small. */
function grownLength(length: number): number {
  return Math.max(1024, Math.ceil(length * 1.25));
}

/** Kinds of whole numbers, and one more than the highest of each. */
const wholeKinds = [
  ['u8', 2 ** 8],
  ['u16', 2 ** 16],
  ['u32', 2 ** 32],
] as const;

/** The narrowest kind of a whole number from 0; the widest for what is none. */
function kindFor(value: number): ColumnKind {
  if (!Number.isInteger(value) || value < 0) return 'f64';
  return wholeKinds.find(([, end]) => value < end)?.[0] ?? 'f64';
}

/** `whole`: numbers from 0, as wide as the highest of them needs. */
export type NumberKind = 'whole' | 'f32' | 'f64';

/** Numbers; absent ones are 0, or in `f32` and `f64` NaN where the caller says so. */
export class NumberColumn {
  readonly #isWhole: boolean;
  #kind: ColumnKind;
  #values: Values;

  constructor(kind: NumberKind) {
    this.#isWhole = kind === 'whole';
    this.#kind = kind === 'whole' ? 'u8' : kind;
    this.#values = made(this.#kind, 0);
  }

  /** Longer than the column; read only. Another array after the next `set`. */
  get values(): Values {
    return this.#values;
  }

  get(index: number): number {
    return this.#values[index] ?? 0;
  }

  set(index: number, value: number): void {
    if (index >= this.#values.length) this.reserve(grownLength(index + 1));
    this.#values[index] = value;
    if (!this.#isWhole || this.#kind === 'f64' || this.#values[index] === value) return;
    this.#convert(kindFor(value), this.#values.length);
    this.#values[index] = value;
  }

  /** Makes room for so many values. */
  reserve(length: number): void {
    if (length > this.#values.length) this.#convert(this.#kind, length);
  }

  #convert(kind: ColumnKind, length: number): void {
    const larger = made(kind, length);
    larger.set(this.#values as never);
    this.#kind = kind;
    this.#values = larger;
  }

  store(length: number): StoredColumn {
    this.reserve(length);
    return { kind: this.#kind, bytes: bytesOf(this.#values, length), dictionary: null };
  }

  restore({ kind, bytes }: StoredColumn): void {
    this.#kind = kind;
    this.#values = restored(kind, bytes);
  }

  /** No value will be set any more. */
  seal(length: number): void {
    this.#values = exact(this.#values, length);
  }
}

/** Distinct texts that have codes of their own; a column with more has numbers of the pool itself. */
const maxCodes = 65_536;

/**
 * Texts as numbers of the pool. As long as there are few different ones, a value is a code of one or two bytes, and a
 * condition is decided once per code.
 */
export class TextColumn {
  #kind: 'u8' | 'u16' | 'u32' = 'u8';
  #values: Values = made('u8', 0);
  /** Numbers of the pool by code; code 0 is an absent text. Null: the values are numbers of the pool. */
  #dictionary: Uint32Array<ArrayBuffer> | null = new Uint32Array(firstCodes);
  #size = 1;
  /** Codes by number of the pool; null while nothing is set. */
  #codes: IdTable | null = null;

  /** Numbers of the pool by code, or null. */
  get dictionary(): Uint32Array | null {
    return this.#dictionary?.subarray(0, this.#size) ?? null;
  }

  /** Codes, or numbers of the pool without a dictionary; longer than the column; read only. */
  get values(): Values {
    return this.#values;
  }

  /** The number in the pool; 0 = absent. */
  get(index: number): number {
    const value = this.#values[index] ?? 0;
    return this.#dictionary === null ? value : (this.#dictionary[value] ?? 0);
  }

  set(index: number, id: number): void {
    const code = this.#codeOf(id);
    if (index >= this.#values.length) this.#convert(this.#kind, grownLength(index + 1));
    this.#values[index] = code;
  }

  /** Makes room for so many values. */
  reserve(length: number): void {
    if (length > this.#values.length) this.#convert(this.#kind, length);
  }

  #codeOf(id: number): number {
    if (this.#dictionary === null || id === 0) return id;
    this.#codes ??= this.#codesOf(this.#dictionary);
    const known = this.#codes.get(id);
    if (known !== undefined) return known;
    if (this.#size === maxCodes) {
      this.#dropDictionary(this.#dictionary);
      return id;
    }
    const code = this.#size++;
    if (code === this.#dictionary.length) {
      const larger = new Uint32Array(code * 2);
      larger.set(this.#dictionary);
      this.#dictionary = larger;
    }
    this.#dictionary[code] = id;
    this.#codes.set(id, code);
    if (code === 256) this.#convert('u16', this.#values.length);
    return code;
  }

  #codesOf(dictionary: Uint32Array): IdTable {
    const codes = new IdTable(firstCodes);
    for (let code = 0; code < this.#size; code++) codes.set(dictionary[code] as number, code);
    return codes;
  }

  #dropDictionary(dictionary: Uint32Array): void {
    this.#convert('u32', this.#values.length);
    const values = this.#values;
    for (let index = 0; index < values.length; index++) values[index] = dictionary[values[index] ?? 0] ?? 0;
    this.#dictionary = null;
    this.#codes = null;
  }

  #convert(kind: 'u8' | 'u16' | 'u32', length: number): void {
    const larger = made(kind, length);
    larger.set(this.#values as never);
    this.#kind = kind;
    this.#values = larger;
  }

  store(length: number): StoredColumn {
    this.reserve(length);
    const { dictionary } = this;
    return {
      kind: this.#kind,
      bytes: bytesOf(this.#values, length),
      dictionary: dictionary && bytesOf(dictionary as Uint32Array<ArrayBuffer>, dictionary.length),
    };
  }

  restore({ kind, bytes, dictionary }: StoredColumn): void {
    this.#kind = kind as 'u8' | 'u16' | 'u32';
    this.#values = restored(kind, bytes);
    this.#dictionary = dictionary && (restored('u32', dictionary) as Uint32Array<ArrayBuffer>);
    this.#size = this.#dictionary?.length ?? 0;
    this.#codes = null;
  }

  /** No value will be set any more. */
  seal(length: number): void {
    this.#values = exact(this.#values, length);
    this.#dictionary = this.#dictionary?.slice(0, this.#size) ?? null;
    this.#codes = null;
  }
}

/** Room for codes at first. */
const firstCodes = 16;
