import { cveKey } from '../cve-key.ts';
import { objectAt, RecordProblem, textAt } from './checked-fields.ts';

/** All statements of a distribution's release about one source package. */
export interface PackageFixes {
  distribution: string;
  release: string;
  package: string;
  /** CVE id to the first version that is not affected; null = not fixed (yet). */
  fixed: Map<string, string | null>;
}

/** Maximum number of CVEs of one package. */
const maxFixes = 100_000;
/** Maximum length of a package, release or version, characters. */
const nameLimit = 128;

/**
 * Reads one package of the simple form of a distribution's fixes:
 * `{"distro":"debian","release":"12","source":"openssh","fixedIn":{"CVE-2023-38408":"1:9.2p1-2+deb12u1"}}`, where null
 * stands for a flaw that is known and not fixed, and `0` for one that the package never had.
 *
 * @throws RecordProblem
 */
export function readPackageFixes(value: unknown): PackageFixes {
  const fields = objectAt(value, 'package');
  const fixedIn = Object.entries(objectAt(fields['fixedIn'], 'fixedIn'));
  if (fixedIn.length > maxFixes) throw new RecordProblem('fixedIn', `has more than ${maxFixes} entries`);
  const fixed = new Map<string, string | null>();
  for (const [id, version] of fixedIn) {
    if (cveKey(id) === null) throw new RecordProblem('fixedIn', 'must have CVE IDs as names');
    fixed.set(id, version === null ? null : versionAt(version, `fixedIn.${id}`));
  }
  return {
    distribution: nameAt(fields['distro'], 'distro').toLowerCase(),
    release: nameAt(fields['release'], 'release'),
    package: nameAt(fields['source'], 'source'),
    fixed,
  };
}

function nameAt(value: unknown, place: string): string {
  const text = textAt(value, place, nameLimit);
  if (!/^[\w.+:~-]+$/.test(text)) throw new RecordProblem(place, 'must be a name without spaces');
  return text;
}

function versionAt(value: unknown, place: string): string {
  const text = textAt(value, place, nameLimit);
  if (!/^[\w.+:~^-]+$/.test(text)) throw new RecordProblem(place, 'must be the version of a package');
  return text;
}
