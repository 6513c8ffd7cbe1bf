import { compareVersions } from '../../../domain/version-order.ts';
import { cveKey } from '../cve-key.ts';
import { packages } from '../packages.ts';
import { objectAt, RecordProblem } from './checked-fields.ts';
import type { PackageFixes } from './import-fixes.ts';

/** Releases of Debian by their names. */
const debianReleases: Readonly<Record<string, string>> = {
  stretch: '9',
  buster: '10',
  bullseye: '11',
  bookworm: '12',
  trixie: '13',
  forky: '14',
  duke: '15',
};
const ubuntuReleases: Readonly<Record<string, string>> = {
  trusty: '14.04',
  xenial: '16.04',
  bionic: '18.04',
  focal: '20.04',
  jammy: '22.04',
  noble: '24.04',
  oracular: '24.10',
  plucky: '25.04',
  questing: '25.10',
  resolute: '26.04',
};
/** Packages of products that can be recognized: the files have those of whole distributions. */
const debNames = new Set(Object.values(packages).flatMap(({ deb }) => deb));
const rpmNames = new Set(Object.values(packages).flatMap(({ rpm }) => rpm));
const apkNames = new Set([...debNames, ...rpmNames]);

const versionForm = /^[\w.+:~^-]{1,128}$/;
const debianStates = new Set(['resolved', 'open', 'undetermined']);

/** What a distribution says of the packages of a release; the last or the first of two versions is kept. */
class Statements {
  readonly #distribution: string;
  readonly #found = new Map<string, PackageFixes>();

  constructor(distribution: string) {
    this.#distribution = distribution;
  }

  add(release: string, name: string, cve: string, version: string | null): void {
    if (cveKey(cve) === null) return;
    if (version !== null && !versionForm.test(version)) throw new RecordProblem(cve, 'must name a version');
    const key = `${release} ${name}`;
    const known = this.#found.get(key);
    const distribution = this.#distribution;
    if (known) known.fixed.set(cve, version);
    else this.#found.set(key, { distribution, release, package: name, fixed: new Map([[cve, version]]) });
  }

  get(release: string, name: string, cve: string): string | null | undefined {
    return this.#found.get(`${release} ${name}`)?.fixed.get(cve);
  }

  list(): PackageFixes[] {
    return [...this.#found.values()];
  }
}

/**
 * A package of Debian's security tracker (`/tracker/data/json`).
 * @throws RecordProblem
 */
export function readDebianPackage(name: string, value: unknown): PackageFixes[] {
  const statements = new Statements('debian');
  if (!debNames.has(name)) return [];
  for (const [cve, entry] of Object.entries(objectAt(value, name))) {
    const releases = objectAt(objectAt(entry, cve)['releases'], `${cve}.releases`);
    for (const [codename, state] of Object.entries(releases)) {
      const release = Object.hasOwn(debianReleases, codename) ? debianReleases[codename] : undefined;
      const { status, fixed_version: fixed } = objectAt(state, `${cve}.releases.${codename}`);
      if (typeof status !== 'string' || !debianStates.has(status))
        throw new RecordProblem(cve, 'has an unknown status');
      if (release === undefined || status === 'undetermined') continue;
      if (status === 'open') statements.add(release, name, cve, null);
      else if (typeof fixed === 'string') statements.add(release, name, cve, fixed);
    }
  }
  return statements.list();
}

/** The notices of Ubuntu (`usn-db/database.json`): each names packages with the version that fixes its CVEs. */
export class UbuntuNotices {
  readonly #statements = new Statements('ubuntu');

  /** @throws RecordProblem */
  add(id: string, value: unknown): void {
    const { cves, releases } = objectAt(value, id);
    if (!Array.isArray(cves)) return;
    for (const [codename, entry] of Object.entries(objectAt(releases ?? {}, `${id}.releases`))) {
      const name = codename.replace(/^esm-\w{1,16}\//, '');
      const release = Object.hasOwn(ubuntuReleases, name) ? ubuntuReleases[name] : undefined;
      const { sources } = objectAt(entry, `${id}.releases.${name}`);
      if (release === undefined || sources === undefined) continue;
      for (const [source, fix] of Object.entries(objectAt(sources, `${id}.sources`))) {
        if (!debNames.has(source)) continue;
        const { version } = objectAt(fix, `${id}.sources.${source}`);
        if (typeof version !== 'string') throw new RecordProblem(id, 'has no version');
        for (const cve of cves) if (typeof cve === 'string') this.#addFirst(release, source, cve, version);
      }
    }
  }

  /** A later notice may repeat a CVE: the first version that fixes it counts. */
  #addFirst(release: string, source: string, cve: string, version: string): void {
    const known = this.#statements.get(release, source, cve);
    if (known && compareVersions(known, version, 'deb') !== 1) return;
    this.#statements.add(release, source, cve, version);
  }

  list(): PackageFixes[] {
    return this.#statements.list();
  }
}

/** `openssh-0:8.7p1-38.el9_4.1` in its parts; null for what is no package of an enterprise release. */
function readBuildName(text: string): { name: string; version: string; release: string } | null {
  const revisionAt = text.lastIndexOf('-');
  const versionAt = text.lastIndexOf('-', revisionAt - 1);
  const release = /\.el(\d{1,2})(?![\d])/.exec(text.slice(revisionAt))?.[1];
  if (versionAt < 1 || release === undefined) return null;
  return { name: text.slice(0, versionAt), version: text.slice(versionAt + 1), release };
}

/** A CVE of Red Hat's security data (`securitydata/cve.json`), with the builds that have its fix. @throws RecordProblem */
export function readRedHatCve(value: unknown): PackageFixes[] {
  const { CVE: cve, affected_packages: builds } = objectAt(value, 'entry');
  if (typeof cve !== 'string' || cveKey(cve) === null) throw new RecordProblem('CVE', 'must be a CVE id');
  const statements = new Statements('rhel');
  for (const build of Array.isArray(builds) ? builds : []) {
    const read = readBuildName(String(build).slice(0, 256));
    if (read === null || !rpmNames.has(read.name)) continue;
    const { name, version, release } = read;
    // Builds of older minor releases have lower numbers: the highest is that of the current one.
    const known = statements.get(release, name, cve);
    if (!known || compareVersions(known, version, 'rpm') === -1) statements.add(release, name, cve, version);
  }
  return statements.list();
}

/** A package of Alpine's `secdb`, of the branch that its file names (`v3.20`). @throws RecordProblem */
export function readAlpinePackage(value: unknown, branch: string): PackageFixes[] {
  const release = /^v(\d{1,2}\.\d{1,2})$/.exec(branch)?.[1];
  const { name, secfixes } = objectAt(objectAt(value, 'package')['pkg'], 'pkg');
  if (release === undefined || typeof name !== 'string' || !apkNames.has(name)) return [];
  const statements = new Statements('alpine');
  for (const [version, ids] of Object.entries(objectAt(secfixes ?? {}, 'secfixes')))
    for (const id of Array.isArray(ids) ? ids : [])
      for (const cve of String(id).slice(0, 256).split(/\s+/))
        statements.add(release, name, cve, version.replace('_p', 'p').replace('_', '~'));
  return statements.list();
}
