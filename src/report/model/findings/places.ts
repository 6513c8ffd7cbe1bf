import { type FindingClass, findingClasses } from '../../../domain/finding.ts';
import { type Allowance, BestItems } from '../bounded.ts';
import type { CurrentHost } from '../inventory/current-host.ts';
import type { FindingPlace, NetworkCount } from '../report.ts';

/** Places that every list may have, however many lists there are. */
const reservedPlaces = 5;

/** Places in the order certain, likely, possible, each in the order of addition; of limited length. */
export class PlaceList {
  readonly #limit: number;
  readonly #allowance: Allowance;
  readonly #byClass: Record<FindingClass, FindingPlace[]> = { certain: [], likely: [], possible: [] };
  #kept = 0;
  #seen = 0;

  /** @param allowance of all lists together */
  constructor(limit: number, allowance: Allowance) {
    this.#limit = limit;
    this.#allowance = allowance;
  }

  add(place: FindingPlace): void {
    this.#seen += 1;
    const room = this.#kept < this.#limit && (this.#kept < reservedPlaces || this.#allowance.take());
    if (!room && !this.#dropLessCertain(place.class)) return;
    this.#byClass[place.class].push(place);
    this.#kept += 1;
  }

  /** @returns whether there was one */
  #dropLessCertain(than: FindingClass): boolean {
    for (const name of findingClasses.slice(findingClasses.indexOf(than) + 1).toReversed()) {
      if (this.#byClass[name].pop() === undefined) continue;
      this.#kept -= 1;
      return true;
    }
    return false;
  }

  items(): FindingPlace[] {
    return findingClasses.flatMap((name) => this.#byClass[name]);
  }

  get left(): number {
    return this.#seen - this.#kept;
  }
}

/** Networks with most findings; hosts of a network follow each other. */
export class NetworkList {
  readonly #networks: BestItems<NetworkCount>;
  #current: NetworkCount | null = null;
  #lastHost = 0;

  constructor(limit: number) {
    this.#networks = new BestItems(limit, byFindings);
  }

  add({ number, network }: CurrentHost): void {
    if (this.#current?.network !== network) this.#open(network);
    const current = this.#current as NetworkCount;
    current.findings += 1;
    if (this.#lastHost !== number) current.hosts += 1;
    this.#lastHost = number;
  }

  #open(network: string): void {
    if (this.#current) this.#networks.add(this.#current);
    this.#current = { network, hosts: 0, findings: 0 };
  }

  items(): NetworkCount[] {
    if (this.#current) this.#networks.add(this.#current);
    this.#current = null;
    return this.#networks.items();
  }
}

function byFindings(a: NetworkCount, b: NetworkCount): number {
  return b.findings - a.findings || b.hosts - a.hosts;
}
