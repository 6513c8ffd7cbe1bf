import type { Endpoint } from './host.ts';

/** What a parser extracted from a banner (key `parsed_services`). */
export interface ParsedService extends Endpoint {
  /** Service name as in the IANA registry where it has one: `ssh`, `http`, `smtp`, ... */
  service: string;
  /** Module type of the parser. */
  parser: string;
  /** Facts by protocol; the single top-level key is the protocol's name, e.g. `{ssh: {software, ...}}`. */
  attributes: Record<string, unknown>;
  truncated: boolean;
}

/** A claim about the product of a service (key `service_fingerprints`, identity: host, port, protocol). */
export interface Fingerprint extends Endpoint {
  /** Service name: `ssh`, `https`, ... */
  match: string;
  product: string | null;
  vendor: string | null;
  version: string | null;
  /** CPE 2.3 formatted string, or null. */
  cpe: string | null;
  /** 0..1 */
  confidence: number;
  /** Origin of the claim: `banner`, `http`, `tls`, ... */
  source: string;
  /** The matching text. */
  evidence: string;
  /** ID of the catalog rule. */
  rule?: string | undefined;
  /** Distribution package revision when the banner shows one, e.g. `Debian-2+deb12u2`. */
  revision?: string | undefined;
  /** Operating system that the same text reveals. */
  os?: { family: string; distribution: string | null; version: string | null } | undefined;
  /** Device that the same text reveals; `type` is a word such as `printer`. */
  hardware?: { type: string | null; vendor: string | null; product: string | null } | undefined;
  alternatives: Omit<Fingerprint, 'alternatives' | keyof Endpoint>[];
}
