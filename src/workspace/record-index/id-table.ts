/** Part of the places that may be taken. */
const fullAt = 0.7;

/** A map of whole numbers (below 2^53) to numbers: 12 bytes per place instead of the 50 of a Map. */
export class IdTable {
  #keys: Float64Array;
  #values: Uint32Array;
  #size = 0;

  /** @param places at first, a power of two */
  constructor(places = 1024) {
    this.#keys = new Float64Array(places).fill(-1);
    this.#values = new Uint32Array(places);
  }

  get(key: number): number | undefined {
    const at = this.#placeOf(key);
    return this.#keys[at] === key ? this.#values[at] : undefined;
  }

  set(key: number, value: number): void {
    if (this.#size >= this.#keys.length * fullAt) this.#grow();
    const at = this.#placeOf(key);
    if (this.#keys[at] !== key) this.#size += 1;
    this.#keys[at] = key;
    this.#values[at] = value;
  }

  /** The place of a key, or the free one where it belongs. */
  #placeOf(key: number): number {
    const mask = this.#keys.length - 1;
    let at = scattered(key) & mask;
    while (this.#keys[at] !== key && this.#keys[at] !== -1) at = (at + 1) & mask;
    return at;
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values];
    this.#keys = new Float64Array(keys.length * 2).fill(-1);
    this.#values = new Uint32Array(values.length * 2);
    for (let from = 0; from < keys.length; from++) {
      if (keys[from] === -1) continue;
      const at = this.#placeOf(keys[from] as number);
      this.#keys[at] = keys[from] as number;
      this.#values[at] = values[from] as number;
    }
  }
}

/** 32 well-mixed bits of both halves of a key. */
function scattered(key: number): number {
  let bits = Math.imul(
    (key % 4_294_967_296) ^ Math.imul(Math.floor(key / 4_294_967_296), 0x9e3779b1),
    0x85ebca6b,
  );
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
