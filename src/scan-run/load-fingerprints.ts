import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import type { Config } from '../config/schema.ts';
import { builtinRules, type NamedSignatures, type RuleCatalog } from '../knowledge/rules/rule-catalog.ts';
import { readSignatureFile } from '../knowledge/rules/signature-file.ts';
import { FingerprintSets, type SetHeader, type SignatureSet } from '../workspace/fingerprint-sets.ts';

/** Sets that people installed: they stay until they are removed. */
export function installedSets(workspaceDir: string): FingerprintSets {
  return new FingerprintSets(join(workspaceDir, 'config', 'fingerprints'));
}

/** What was fetched: it can be fetched again. */
export function syncedSets(workspaceDir: string): FingerprintSets {
  return new FingerprintSets(join(workspaceDir, 'cache', 'fingerprints'));
}

export interface LoadedFingerprints {
  catalogue: RuleCatalog;
  /** The sets beside the builtin signatures, those that win first. */
  sets: (SignatureSet & { file: string })[];
  /** What is wrong with sets and files that are left out, ready to be shown. */
  problems: string[];
}

/**
 * Every signature in force: files of `fingerprint.rules`, installed sets, fetched sets, builtin ones. What cannot be used
 * is left out whole and told; nothing is fetched.
 */
export async function loadFingerprints(
  config: Pick<Config, 'fingerprint' | 'workspace'>,
): Promise<LoadedFingerprints> {
  const problems: string[] = [];
  const sets: LoadedFingerprints['sets'] = [];
  const take = async (read: () => Promise<LoadedFingerprints['sets'][number]>) => {
    try {
      sets.push(await read());
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  };
  for (const file of config.fingerprint.rules) await take(() => readRulesFile(file));
  for (const folder of config.workspace.enabled ? [installedSets, syncedSets] : []) {
    const found = folder(config.workspace.dir);
    const { names, problems: left } = await found.list();
    problems.push(...left);
    for (const name of names)
      await take(async () => ({ ...(await found.read(name)), file: found.fileOf(name) }));
  }
  // What is named first goes before the rest, so it is laid on top last.
  const catalogue = sets.reduceRight((below, set) => below.extendedBy(namedSet(set)), builtinRules);
  return { catalogue, sets, problems };
}

async function readRulesFile(file: string): Promise<LoadedFingerprints['sets'][number]> {
  const signatures = await readSignatureFile(file);
  const header: SetHeader = {
    name: basename(file),
    origin: 'added',
    source: file,
    installed_at: '',
    signatures: signatures.length,
    sha256: createHash('sha256').update(JSON.stringify(signatures)).digest('hex'),
  };
  return { header, signatures, file };
}

function namedSet({ header, signatures }: SignatureSet): NamedSignatures {
  const name = header.name.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, 40);
  return { version: `${name}@${header.sha256.slice(0, 8)}`, signatures };
}
