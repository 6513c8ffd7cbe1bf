import { type Severity, severities } from '../../domain/finding.ts';
import { producersOf, producerText } from '../../domain/producer.ts';
import {
  type ExtraRow,
  type HostRow,
  isOpen,
  type PortRow,
  type ResultRow,
  type VulnerabilityRow,
} from '../../domain/result.ts';
import { jsonText } from '../../workspace/record/row-line.ts';
import type { ReportFacts } from '../report-facts.ts';
import { oneLine, shortenedText } from './bounded.ts';
import { ActionTable } from './findings/actions.ts';
import { countClass, noClasses } from './findings/class-counts.ts';
import { KindTable, placeOf } from './findings/kinds.ts';
import { readFinding } from './findings/seen-finding.ts';
import { CertificateSums } from './inventory/certificates.ts';
import { ComplianceSums } from './inventory/compliance.ts';
import { CoverageSums } from './inventory/coverage.ts';
import { type CurrentHost, currentHost } from './inventory/current-host.ts';
import { HostSums } from './inventory/hosts.ts';
import { ServiceSums } from './inventory/services.ts';
import type { ClassCounts, Coverage, ExtraValue, Report } from './report.ts';
import { endpointText } from './report-text.ts';

/** Values under keys of plugins. */
const maxExtras = 200;
/** Longest such value, characters of JSON. */
const maxExtraLength = 300;

/** Sums of one severity. */
export type CountedLine = ClassCounts & { exploited: number };

/** What the rows add up to. */
export interface Collected
  extends Pick<
    Report,
    | 'actions'
    | 'kinds'
    | 'kindsLeft'
    | 'hosts'
    | 'services'
    | 'certificates'
    | 'compliance'
    | 'extras'
    | 'extrasLeft'
  > {
  lines: Record<Severity, CountedLine>;
  exploited: ClassCounts;
  exploitedHosts: ClassCounts;
  coverage: Omit<Coverage, 'text'>;
}

/** Reads rows in record order: those of a host follow each other. */
export class Collection {
  readonly #facts: ReportFacts;
  readonly #kinds = new KindTable();
  readonly #actions = new ActionTable();
  readonly #hosts = new HostSums();
  readonly #services = new ServiceSums();
  readonly #certificates: CertificateSums;
  readonly #compliance = new ComplianceSums();
  readonly #coverage = new CoverageSums();
  readonly #extras: ExtraValue[] = [];
  #extrasLeft = 0;
  readonly #lines = Object.fromEntries(
    severities.map((severity) => [severity, { ...noClasses(), exploited: 0 }]),
  ) as Record<Severity, CountedLine>;
  readonly #exploited = noClasses();
  #host: CurrentHost | null = null;
  #port: { row: PortRow; product: ReturnType<ServiceSums['addPort']> } | null = null;

  constructor(facts: ReportFacts) {
    this.#facts = facts;
    this.#certificates = new CertificateSums(facts.completedAt ?? facts.timestamp);
  }

  add(row: ResultRow): void {
    switch (row.type) {
      case 'host':
        this.#openHost(row.host, row);
        return this.#coverage.addHost(row);
      case 'port':
        return this.#addPort(row);
      case 'vulnerability':
        return this.#addFinding(row);
      case 'compliance':
        return this.#compliance.add(row);
      case 'extra':
        return this.#addExtra(row);
      case 'error':
        return this.#coverage.addError(row);
      case 'summary':
        return;
    }
  }

  #openHost(host: string, row: HostRow | null): CurrentHost {
    this.#host = currentHost((this.#host?.number ?? 0) + 1, host, row);
    this.#port = null;
    this.#hosts.open(this.#host);
    return this.#host;
  }

  /** The host of a row; one without a row of its own begins here. */
  #hostOf(row: PortRow | VulnerabilityRow): CurrentHost {
    return this.#host?.host === row.host ? this.#host : this.#openHost(row.host, null);
  }

  #addPort(row: PortRow): void {
    const { number } = this.#hostOf(row);
    this.#port = { row, product: isOpen(row) ? this.#services.addPort(row, number) : null };
    this.#certificates.add(row);
    this.#coverage.addPort(row);
  }

  #addFinding(row: VulnerabilityRow): void {
    const host = this.#hostOf(row);
    const at = this.#port;
    const port = at?.row.port === row.port && at?.row.protocol === row.protocol ? at : null;
    const finding = readFinding(row, port?.product?.product ?? null);
    const line = this.#lines[finding.severity];
    countClass(line, finding.class);
    if (finding.exploited) {
      line.exploited += 1;
      countClass(this.#exploited, finding.class);
    }
    if (port?.product) this.#services.addFinding(port.product, finding.severity, host.number);
    const place = placeOf(finding, host);
    const kind = this.#kinds.add(finding, place, host);
    this.#hosts.addFinding(finding, this.#actions.add(finding, place, host, kind));
  }

  #addExtra(row: ExtraRow): void {
    if (this.#extras.length >= maxExtras) {
      this.#extrasLeft += 1;
      return;
    }
    const { key, host, port, protocol, value } = row;
    const end = port === undefined || protocol === undefined ? '' : `/${protocol}`;
    this.#extras.push({
      key: oneLine(key, maxExtraLength),
      where: host === null ? '' : oneLine(`${endpointText(host, port ?? null)}${end}`, maxExtraLength),
      value: shortenedText(jsonText(value), maxExtraLength),
      plugins: oneLine(producersOf(row).map(producerText).join(', '), maxExtraLength),
    });
  }

  finish(): Collected {
    const kinds = this.#kinds.finish();
    const actions = this.#actions.finish();
    const hosts = this.#hosts.finish();
    return {
      kinds,
      kindsLeft: this.#kinds.left,
      actions,
      hosts,
      services: this.#services.finish(),
      certificates: this.#certificates.finish(),
      compliance: this.#compliance.finish(hosts.all),
      extras: this.#extras,
      extrasLeft: this.#extrasLeft,
      lines: this.#lines,
      exploited: this.#exploited,
      exploitedHosts: this.#hosts.exploitedHosts,
      coverage: this.#coverage.finish(this.#facts, hosts.all),
    };
  }
}
