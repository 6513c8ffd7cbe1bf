import type { FindingClass, Severity, SeverityCounts } from '../../domain/finding.ts';
import type { Protocol } from '../../domain/host.ts';
import type { StageRecord } from '../../domain/scan.ts';
import type { ReportFacts, ReportOptions } from '../report-facts.ts';

/**
 * A scan as people read it: every number, sentence and order of a report stands here once, renderers only draw. It is
 * built by one pass over the rows; its size is limited, hosts stream beside it (`hostBlocks`).
 */
export interface Report {
  facts: ReportFacts;
  options: ReportOptions;
  title: string;
  /** `Completed`, `Canceled, partial`, `Failed, partial`, `Running, partial`, … */
  state: string;
  /** At most two sentences: how bad, and what first. */
  verdict: string;
  /** Set for a scan that did not reach its end, or lost rows: the text of the banner. */
  partial: string | null;
  /** Three numbers for the front. */
  headline: HeadlineNumber[];
  leads: SectionLeads;
  summary: ReportSummary;
  /** By urgency. */
  actions: Action[];
  /** Worst first, then by hosts and ID. */
  kinds: FindingKind[];
  /** Findings of kinds beyond the maximum number of kinds; 0 but for hostile plugins. */
  kindsLeft: { kinds: number; findings: number };
  hosts: HostTotals;
  services: ServiceTotals;
  certificates: CertificateTotals;
  /** By framework, then control; empty if nothing was evaluated. */
  compliance: FrameworkResult[];
  /** Values under keys of plugins, the first of the record. */
  extras: ExtraValue[];
  extrasLeft: number;
  coverage: Coverage;
  methodology: Methodology;
}

export interface HeadlineNumber {
  number: string;
  label: string;
  note: string;
  /** Counts of the summary that may take the place of the note, with their marks; null = none. */
  marks: 'exploited' | 'severities' | null;
}

/** The first sentences of the sections. */
export interface SectionLeads {
  summary: string;
  fixes: string;
  findings: string;
  hosts: string;
  services: string;
  certificates: string;
}

/** `all` is the sum of the others. */
export interface ClassCounts extends Record<FindingClass, number> {
  all: number;
}

export interface SeverityLine extends ClassCounts {
  severity: Severity;
  /** Known to be exploited. */
  exploited: number;
  /** Against the earlier scan; null without one. */
  change: number | null;
}

export interface ReportSummary {
  /** Hosts that responded. */
  hosts: number;
  openPorts: number;
  findings: number;
  classes: ClassCounts;
  severities: SeverityCounts;
  /** One per severity, worst first. */
  lines: SeverityLine[];
  /** Findings that are known to be exploited, and the hosts that have them, by the most certain of these. */
  exploited: ClassCounts;
  exploitedHosts: ClassCounts;
  criticalOrHigh: ClassCounts;
  hostsWithFindings: number;
}

/** Where a finding was seen. */
export interface FindingPlace {
  host: string;
  /** The first name of the host. */
  name: string | null;
  port: number | null;
  protocol: Protocol | null;
  /** The version or what else was detected. */
  seen: string | null;
  class: FindingClass;
  /** For or against: package of a distribution, named in the greeting; empty if there is nothing to say. */
  note: string;
}

/** Equal findings: same ID and severity. */
export interface FindingKind {
  /** `f-CVE-2024-6387`: unique, letters, digits, `-` and `.` only. */
  anchor: string;
  id: string;
  title: string;
  severity: Severity;
  exploited: boolean;
  /** 0..1, the highest. */
  epss: number | null;
  cvss: { version: string; score: number; vector: string } | null;
  counts: ClassCounts;
  hosts: number;
  /** Certain first, then likely, then possible, each by address; of limited length. */
  places: FindingPlace[];
  placesLeft: number;
  /** All hosts by network, most first; of limited length. */
  networks: NetworkCount[];
  evidence: KindEvidence[];
  /** Places with evidence that differs from all of `evidence`. */
  evidenceLeft: number;
  versions: AffectedRange | null;
  /** As text; the first if they differ. */
  affected: string | null;
  cpe: string | null;
  backportNote: string | null;
  /** Findings with a backport note. */
  backported: number;
  remediation: string;
  references: string[];
  /** Modules, and `plugin NAME VERSION`. */
  foundBy: string[];
  /** Rank of the first action that removes it, or a part: findings of one ID may be in several products. */
  action: number;
}

export interface NetworkCount {
  /** `192.168.20.0/24`, `2001:db8::/64` */
  network: string;
  hosts: number;
  findings: number;
}

export interface KindEvidence {
  /** Shortened. */
  text: string;
  /** Characters of the whole evidence. */
  length: number;
  place: Pick<FindingPlace, 'host' | 'port' | 'protocol'>;
  /** Findings with the same evidence. */
  count: number;
  /** Start and length of what matched within `text`, if that is known. */
  match: { at: number; length: number } | null;
}

export interface AffectedRange {
  /** First affected; null = unknown. */
  from: string | null;
  /** First fixed; null = unknown. */
  fixed: string | null;
  /** Ascending. */
  seen: { version: string; hosts: number }[];
}

/** What removes findings: one line of the fix list. */
export interface Action {
  /** From 1. */
  rank: number;
  /** `fix-2` */
  anchor: string;
  /** What its findings have in common: `update openbsd:openssh`. */
  key: string;
  /** `Update nginx to 1.27.1 or install the distribution's fix` */
  text: string;
  /** Why it has its rank. */
  reason: string;
  /** An update of a product. */
  update: boolean;
  exploited: boolean;
  epss: number | null;
  cvss: number | null;
  hosts: number;
  findings: number;
  severities: SeverityCounts;
  /** Of its worst finding. */
  class: FindingClass;
  classes: ClassCounts;
  /** What to do, in full sentences. */
  remediation: string;
  backportNote: string | null;
  backported: number;
  /** In the order of the report. */
  kinds: FindingKind[];
  /** One per host and port, the worst class; certain first, each by address; of limited length. */
  places: FindingPlace[];
  placesLeft: number;
}

export interface HostTotals {
  all: number;
  withFindings: number;
  /** At most six. */
  worst: WorstHost[];
  /** Most findings first; of limited length. */
  networks: (NetworkCount & { severities: SeverityCounts })[];
  networksLeft: number;
}

export interface WorstHost {
  host: string;
  name: string | null;
  exploited: boolean;
  severities: SeverityCounts;
  /** Rank of the first action that concerns it. */
  action: number;
}

/** A line of a table with a sum. */
export interface ServiceTotals {
  openPorts: number;
  /** Open ports without a recognized service. */
  unrecognized: number;
  /** Most ports first; of limited length, the rest as `othersKinds` and `others`. */
  names: { name: string; ports: number }[];
  otherNames: number;
  otherPorts: number;
  /** With most findings first, then most hosts; of limited length. */
  products: ProductLine[];
  productsLeft: number;
}

export interface ProductLine {
  product: string;
  hosts: number;
  /** Most frequent first; of limited length. Null = not shown. */
  versions: { version: string | null; ports: number }[];
  versionsLeft: number;
  hostsWithFindings: number;
  severities: SeverityCounts;
}

export interface CertificateTotals {
  read: number;
  /** By days from the end of the scan. */
  expired: number;
  within14Days: number;
  within90Days: number;
  /** Those of the three, soonest first; of limited length. */
  expiring: CertificateLine[];
  expiringLeft: number;
}

export interface CertificateLine {
  /** ISO 8601 UTC. */
  until: string;
  /** Whole days from the end of the scan; negative = expired. */
  days: number;
  subject: string;
  /** `self-signed`, or the name. */
  issuer: string;
  host: string;
  port: number;
  /** More places with the same certificate. */
  more: number;
}

export interface FrameworkResult {
  framework: string;
  controls: ControlLine[];
  controlsLeft: number;
}

export interface ControlLine {
  control: string;
  title: string;
  /** Numbers of hosts. */
  fail: number;
  pass: number;
  notAssessed: number;
  /** Why it was not assessed on any host. */
  reason: string | null;
  /** Of limited length. */
  failed: { host: string; port: number | null; text: string }[];
}

export interface ExtraValue {
  key: string;
  where: string;
  /** Shortened JSON. */
  value: string;
  plugins: string;
}

/** What was looked at, and what was not. Null counts are unknown. */
export interface Coverage {
  /** One or two sentences. */
  text: string;
  addresses: { requested: number; responded: number; silent: number; excluded: number };
  /**
   * Each is `open + closed + filtered + notTried = planned`, TCP and UDP are the sum. Of all planned pairs of host and
   * port, as far as the protocol is known, else of the hosts that responded. Null if no scanner counts.
   */
  ports: { tcp: PortSums; udp: PortSums; all: PortSums } | null;
  warnings: { code: string; where: string; message: string }[];
  warningsLeft: number;
  errors: { code: string; where: string; message: string }[];
  errorsLeft: number;
  /** Services that were not read to their end; of limited length. */
  unfinished: { host: string; port: number; protocol: Protocol; stage: string; missing: string }[];
  unfinishedLeft: number;
  /** Hosts that accept connections on nearly every port. */
  allPortsOpen: string[];
}

export interface PortSums {
  open: number;
  closed: number;
  filtered: number;
  notTried: number;
  planned: number;
}

export interface Methodology {
  /** Label and value, in the order of the report. `mono` values are shown in monospace. */
  settings: { label: string; value: string; mono: boolean }[];
  modules: (Pick<StageRecord, 'module_type' | 'status' | 'items_in' | 'items_out' | 'error'> & {
    version: string | null;
    seconds: number | null;
  })[];
  plugins: { name: string; version: string; kind: string; sha256: string }[];
  /** What this report cannot say. */
  limits: string;
  /** Wording that sources of data require; empty without their data. */
  notice: string;
}

/** One host, complete; only one is in memory at a time. */
export interface HostBlock {
  /** `h-192.168.20.14` */
  anchor: string;
  host: string;
  names: string[];
  /** `Debian 12`, null = unknown. */
  system: string | null;
  systemConfidence: number | null;
  kind: string | null;
  mac: string | null;
  vendor: string | null;
  method: string | null;
  latencyMs: number | null;
  ports: PortLine[];
  portsLeft: number;
  openPorts: number;
  counts: PortSums | null;
  /** `admin-prohibited from 10.0.0.254`; empty without an ICMP error. */
  filteredWhy: string;
  /** `22, 80/tcp closed (rst), 443/tcp filtered (no response)`; empty if there are many. */
  notOpen: string;
  allPortsOpen: boolean;
  /** In the order of the fix list; one per kind and class; of limited length. */
  findings: HostFindingLine[];
  findingsLeft: number;
  severities: SeverityCounts;
  exploited: boolean;
  /** Position in address order, from 0. */
  position: number;
}

export interface PortLine {
  /** `h-192.168.20.14-22-tcp` */
  anchor: string;
  port: number;
  protocol: Protocol;
  state: string;
  service: string | null;
  /** Product and version. */
  product: string | null;
  /** 0..1 */
  confidence: number | null;
  cpe: string | null;
  /** The banner, shortened; empty without one. */
  said: string;
  /** Characters of the whole banner. */
  saidLength: number;
  /** `TLS 1.2 and 1.3, certificate CN=…, until Mar 4, 2027`; empty without TLS. */
  tls: string;
  /** The further names that were requested, with their pages and certificates; empty without any. */
  sites: string;
  /** Why it was not identified, or what is missing; empty if nothing is. */
  missing: string;
  plugins: string;
}

export interface HostFindingLine {
  kind: FindingKind;
  /** Rank of the action that removes it on this host. */
  action: number;
  ports: string[];
  class: FindingClass;
}
