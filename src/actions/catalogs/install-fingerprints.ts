import { basename } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';
import { installedSets } from '../../scan-run/catalogs/load-fingerprints.ts';
import { type SetHeader, setName } from '../../workspace/fingerprint-sets.ts';
import { type CheckedRules, checkRules, readRulePath } from './read-rule-feed.ts';

export interface InstallRequest {
  /** Files, archives or folders. */
  paths: readonly string[];
  name: string;
  /** Replaces a set of the same name. */
  force: boolean;
}

export interface InstalledReport extends Pick<CheckedRules, 'files' | 'examples'> {
  set: SetHeader;
}

/**
 * Validates rule files, in the native format or another known one, and installs them as one set. Changes nothing on
 * any error.
 * @throws PortolanError `configuration` naming file and position, `usage`, `conflict`
 */
export async function installFingerprints(
  workspaceDir: string,
  order: InstallRequest,
  origin: 'added' | 'imported',
): Promise<InstalledReport> {
  checkName(order.name);
  const sets = installedSets(workspaceDir);
  const { names } = await sets.list();
  if (!order.force && names.includes(order.name)) {
    throw new PortolanError(
      'conflict',
      `a set named "${order.name}" already exists; replace it with --force`,
    );
  }
  const texts = (await Promise.all(order.paths.map(readRulePath))).flat();
  const { signatures, files, examples } = await checkRules(texts);
  const source = order.paths
    .map((path) => basename(path))
    .join(', ')
    .slice(0, 200);
  const set = await sets.write({ name: order.name, origin, source }, signatures);
  return { set, files, examples };
}

/** @throws PortolanError `not_found` */
export async function removeFingerprints(workspaceDir: string, name: string): Promise<void> {
  checkName(name);
  if (await installedSets(workspaceDir).remove(name)) return;
  throw new PortolanError(
    'not_found',
    `no installed set "${name}"; list them with: portolan fingerprint stats`,
  );
}

/** Set name derived from a file name. */
export function nameOfFile(path: string): string {
  const plain = basename(path)
    .toLowerCase()
    .replace(/(?:\.(?:ya?ml|json|xml|gz|tgz|tar)){1,4}$/, '');
  return (
    plain
      .replace(/[^a-z0-9_-]+/g, '-')
      .replace(/^[-_]+/, '')
      .slice(0, 40) || 'rules'
  );
}

function checkName(name: string): void {
  if (!setName.test(name)) {
    throw new PortolanError(
      'usage',
      `"${name}" is not a valid set name: 1 to 40 characters of a-z, 0-9, hyphen, underscore`,
    );
  }
}
