import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** An installed package of Debian, and what its changelog says. */
export interface InstalledPackage {
  name: string;
  source: string;
  /** Of the source package, with epoch and revision. */
  version: string;
  /** CVEs that an entry of the changelog names: mended in this revision or before. */
  mended: Set<string>;
}

const changelogs = ['changelog.Debian.gz', 'changelog.gz'];
const cveId = /CVE-\d{4}-\d{4,}/g;

/**
 * What is installed of a package; of one that only depends on others, the one of them that has the wanted version.
 * @param upstream beginning of the version without its epoch
 * @returns null when it is not installed
 */
export function installedPackage(name: string, upstream: string): InstalledPackage | null {
  for (const candidate of [name, ...dependencies(name)]) {
    const [source = '', version = ''] = query(candidate, '${source:Package} ${source:Version}').split(' ');
    if (!version.replace(/^\d+:/, '').startsWith(upstream)) continue;
    return { name: candidate, source, version, mended: new Set(changelogOf(candidate).match(cveId)) };
  }
  return null;
}

function query(name: string, format: string): string {
  try {
    return execFileSync('dpkg-query', ['-W', '-f', format, name], {
      stdio: ['ignore', 'pipe', 'ignore'],
    }).toString();
  } catch {
    return '';
  }
}

function dependencies(name: string): string[] {
  return query(name, '${Depends}')
    .split(/[,|]/)
    .map((item) => item.trim().split(/[\s:(]/, 1)[0] ?? '')
    .filter((item) => item !== '');
}

/** From the documentation, or out of the package file where the documentation was left out. */
function changelogOf(name: string): string {
  const folder = join('/usr/share/doc', name);
  const files = changelogs.map((file) => join(folder, file)).filter((file) => existsSync(file));
  const [file] = files;
  if (file !== undefined) return gunzipSync(readFileSync(realpathSync(file))).toString();
  return downloadedChangelog(name);
}

function downloadedChangelog(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-changelog-'));
  try {
    execFileSync('apt-get', ['download', '-q', name], { cwd: folder, stdio: 'ignore' });
    const [deb] = readdirSync(folder);
    if (deb === undefined) return '';
    const archive = execFileSync('dpkg-deb', ['--fsys-tarfile', join(folder, deb)], { maxBuffer: 2 ** 30 });
    const paths = changelogs.map((file) => `./usr/share/doc/${name}/${file}`);
    for (const path of paths) {
      try {
        return gunzipSync(
          execFileSync('tar', ['-xOf', '-', path], {
            input: archive,
            maxBuffer: 2 ** 28,
            stdio: ['pipe', 'pipe', 'ignore'],
          }),
        ).toString();
      } catch {
        // It has the other name.
      }
    }
    return '';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
