import type { CpeName } from '../products/cpe.ts';

/**
 * One fact that identifies a product or protocol.
 *
 * `pattern` is in RE2 syntax and searched for (not anchored) in at most 4096 characters of the evidence, one
 * character per byte. Named groups `(?P<name>...)` fill the `{name}` placeholders and the group of that number the
 * `{1}` placeholders of all templates; a group that did not take part in the match leaves its placeholder empty, an
 * empty value counts as unknown. `product`, `vendor`, `version`, `revision` and the members of `cpe`, `os`,
 * `hardware` and `facts` are templates.
 */
export interface Signature {
  /** Unique in its file, `^[a-z0-9][a-z0-9.-]{1,62}$`. */
  id: string;
  /** One line for people. */
  description?: string;
  /** Kind of product, e.g. `web`; the name of its builtin group, or what an importer derived from its source. */
  category?: string;
  tags?: string[];
  /** Service name without TLS; null if the text does not identify the protocol. */
  service: string | null;
  /** The evidence to match: `ssh.software`, `http.header.server`, `banner.raw`, ... */
  source: string;
  pattern: string;
  /** Any of `i` (ignore case), `s` (dot matches line ends), `m` (`^`, `$` at lines). */
  flags?: string;
  /** Null for signatures that only identify the protocol or the operating system. */
  product: string | null;
  /** Vendor in the spelling of the CPE dictionary. */
  vendor: string | null;
  /** Upstream version, without distribution suffixes. */
  version?: string;
  /** Suffix of the distribution: `Debian-2+deb12u3`. */
  revision?: string;
  cpe?: CpeName;
  /** Confidence in the product if the pattern matches, above 0 and at most 1. */
  certainty: number;
  os?: { family: string; distribution?: string; version?: string };
  /** The device that the text reveals; `type` is a word such as `printer` or `router`. */
  hardware?: { type?: string; vendor?: string; product?: string };
  /** Other captured values, by name. */
  facts?: Record<string, string>;
  /** Real texts that must match, with their expected values. */
  examples: SignatureExample[];
}

export interface SignatureExample {
  text: string;
  product?: string | null;
  version?: string | null;
  revision?: string | null;
  cpe?: string | null;
  /** `family distribution version`, e.g. `linux debian 12`. */
  os?: string | null;
  /** `type vendor product`, e.g. `printer HP LaserJet`. */
  hardware?: string | null;
  facts?: Record<string, string>;
}
