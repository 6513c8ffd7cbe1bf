import type { CpeName } from '../products/cpe.ts';

/**
 * One fact about how a product or protocol shows itself.
 *
 * `pattern` is in RE2 syntax and searched for (not anchored) in at most 4096 characters of the evidence, one
 * character per byte. Named groups `(?P<name>...)` fill the `{name}` places and the group of that number the `{1}`
 * places of all templates; a group that took no part in the match leaves its place empty, an empty value counts as
 * unknown. `product`, `vendor`, `version`, `revision` and the members of `cpe`, `os`, `hardware` and `facts` are
 * templates.
 */
export interface Signature {
  /** Unique in its file, `^[a-z0-9][a-z0-9.-]{1,62}$`. */
  id: string;
  /** One line for people. */
  description?: string;
  /** What kind of thing it names, e.g. `web`; the name of its builtin group, or what an importer made of its source. */
  category?: string;
  tags?: string[];
  /** Service name, as it is called without TLS; null when the text says nothing about the protocol. */
  service: string | null;
  /** The evidence it reads: `ssh.software`, `http.header.server`, `banner.raw`, ... */
  source: string;
  pattern: string;
  /** Any of `i` (ignore case), `s` (dot matches line ends), `m` (`^`, `$` at lines). */
  flags?: string;
  /** null for signatures that only know the protocol or the operating system. */
  product: string | null;
  /** Vendor as the CPE dictionary spells it. */
  vendor: string | null;
  /** Upstream version, without what a distribution appended. */
  version?: string;
  /** What a distribution appended: `Debian-2+deb12u3`. */
  revision?: string;
  cpe?: CpeName;
  /** How sure the product is when the pattern matches, above 0 and at most 1. */
  certainty: number;
  os?: { family: string; distribution?: string; version?: string };
  /** The device that the text gives away; `type` is a word such as `printer` or `router`. */
  hardware?: { type?: string; vendor?: string; product?: string };
  /** Other values that it captures, by name. */
  facts?: Record<string, string>;
  /** Real texts that must match, with the values they must give. */
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
