import { formatIpv4, parseAddress } from '../../domain/targets/address.ts';

/** Addresses in ascending order as text: `10.0.0.3-9, 10.0.1.1`. */
export class AddressRanges {
  count = 0;
  #done: string[] = [];
  #open: { first: string; last: string; value: bigint } | null = null;

  add(address: string): void {
    this.count += 1;
    const parsed = parseAddress(address);
    const value = parsed?.family === 4 ? parsed.value : null;
    if (value !== null && this.#open && value === this.#open.value + 1n && value % 256n !== 0n) {
      this.#open = { ...this.#open, last: formatIpv4(Number(value)), value };
      return;
    }
    this.#close();
    if (value === null) this.#done.push(address);
    else this.#open = { first: address, last: address, value };
  }

  get text(): string {
    const open = this.#open ? [rangeText(this.#open)] : [];
    return [...this.#done, ...open].join(', ');
  }

  #close(): void {
    if (this.#open) this.#done.push(rangeText(this.#open));
    this.#open = null;
  }
}

function rangeText({ first, last }: { first: string; last: string }): string {
  return first === last ? first : `${first}-${last.split('.').at(-1)}`;
}
