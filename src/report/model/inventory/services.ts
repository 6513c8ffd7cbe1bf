import { noFindings, type Severity, type SeverityCounts } from '../../../domain/finding.ts';
import type { PortRow } from '../../../domain/result.ts';
import { BoundedMap, DistinctCount, oneLine, textOrder } from '../bounded.ts';
import type { ProductLine, ServiceTotals } from '../report.ts';
import { bySeverities } from './hosts.ts';

/** Services that are counted by name. */
const maxCountedServices = 2000;
/** Services that a report names. */
const maxServices = 12;
/** Products that are counted by name. */
const maxCountedProducts = 5000;
/** Products that a report names. */
const maxProducts = 60;
/** Products beyond the maximum that are counted separately. */
const maxOtherProducts = 100_000;
/** Versions of a product that are counted. */
const maxCountedVersions = 100;
/** Versions of a product that a report names. */
const maxVersions = 8;
/** Longest name of a service, product or version, characters. */
const maxNameLength = 100;

interface CountedProduct {
  product: string;
  hosts: number;
  lastHost: number;
  /** Ports by version; `null` under the empty text. */
  versions: BoundedMap<{ version: string | null; ports: number }>;
  /** Ports whose version is beyond the maximum. */
  otherVersions: DistinctCount;
  hostsWithFindings: number;
  lastHostWithFindings: number;
  severities: SeverityCounts;
  findings: number;
}

/** Services and products of all ports. */
export class ServiceSums {
  #openPorts = 0;
  #unrecognized = 0;
  readonly #names = new BoundedMap<{ name: string; ports: number }>(maxCountedServices);
  readonly #moreNames = new DistinctCount(maxCountedServices);
  #morePorts = 0;
  readonly #products = new BoundedMap<CountedProduct>(maxCountedProducts);
  readonly #moreProducts = new DistinctCount(maxOtherProducts);

  /** @returns the product of the port, for its findings */
  addPort({ service }: PortRow, host: number): CountedProduct | null {
    this.#openPorts += 1;
    const name = oneLine(String(service?.name ?? ''), maxNameLength);
    if (name === '' || name === 'unknown') this.#unrecognized += 1;
    else this.#addName(name);
    if (!service?.product) return null;
    return this.#addProduct(String(service.product), service.version, host);
  }

  #addName(name: string): void {
    const known = this.#names.at(name, () => ({ name, ports: 0 }));
    if (known) known.ports += 1;
    else {
      this.#moreNames.add(name);
      this.#morePorts += 1;
    }
  }

  #addProduct(name: string, shown: string | null | undefined, host: number): CountedProduct | null {
    const product = oneLine(name, maxNameLength);
    const known = this.#products.at(product, () => newProduct(product));
    if (known === null) {
      this.#moreProducts.add(product);
      return null;
    }
    if (known.lastHost !== host) known.hosts += 1;
    known.lastHost = host;
    const version = shown ? oneLine(String(shown), maxNameLength) : null;
    const line = known.versions.at(version ?? '', () => ({ version, ports: 0 }));
    if (line) line.ports += 1;
    else known.otherVersions.add(version ?? '');
    return known;
  }

  addFinding(product: CountedProduct, severity: Severity, host: number): void {
    product.findings += 1;
    product.severities[severity] += 1;
    if (product.lastHostWithFindings !== host) product.hostsWithFindings += 1;
    product.lastHostWithFindings = host;
  }

  get openPorts(): number {
    return this.#openPorts;
  }

  get unrecognized(): number {
    return this.#unrecognized;
  }

  finish(): ServiceTotals {
    const names = this.#names.values().sort((a, b) => b.ports - a.ports || textOrder(a.name, b.name));
    // A single other one takes the line that names it.
    const shown = names.length === maxServices + 1 ? names : names.slice(0, maxServices);
    const ports = (lines: typeof names) => lines.reduce((sum, line) => sum + line.ports, 0);
    const products = this.#products.values().sort(productOrder);
    return {
      openPorts: this.#openPorts,
      unrecognized: this.#unrecognized,
      names: shown,
      otherNames: names.length - shown.length + this.#moreNames.count,
      otherPorts: ports(names) - ports(shown) + this.#morePorts,
      products: products.slice(0, maxProducts).map(productLine),
      productsLeft: Math.max(0, products.length - maxProducts) + this.#moreProducts.count,
    };
  }
}

function newProduct(product: string): CountedProduct {
  return {
    product,
    hosts: 0,
    lastHost: 0,
    versions: new BoundedMap(maxCountedVersions),
    otherVersions: new DistinctCount(maxCountedVersions),
    hostsWithFindings: 0,
    lastHostWithFindings: 0,
    severities: noFindings(),
    findings: 0,
  };
}

function productOrder(a: CountedProduct, b: CountedProduct): number {
  return (
    b.findings - a.findings ||
    b.hosts - a.hosts ||
    (bySeverities(a.severities, b.severities) ?? textOrder(a.product, b.product))
  );
}

function productLine(counted: CountedProduct): ProductLine {
  const { product, hosts, hostsWithFindings, otherVersions } = counted;
  const versions = counted.versions.values().sort((a, b) => b.ports - a.ports);
  return {
    product,
    hosts,
    versions: versions.slice(0, maxVersions),
    versionsLeft: Math.max(0, versions.length - maxVersions) + otherVersions.count,
    hostsWithFindings,
    severities: counted.severities,
  };
}
