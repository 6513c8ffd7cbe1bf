import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { builtinRules, type NamedSignatures, type RuleCatalog } from '../../knowledge/rules/rule-catalog.ts';
import { FingerprintSets, type SetHeader, type SignatureSet } from '../../workspace/fingerprint-sets.ts';

/** Installed sets: kept until they are removed. */
export function installedSets(workspaceDir: string): FingerprintSets {
  return new FingerprintSets(join(workspaceDir, 'config', 'fingerprints'));
}

/** Synced sets: can be downloaded again. */
export function syncedSets(workspaceDir: string): FingerprintSets {
  return new FingerprintSets(join(workspaceDir, 'cache', 'fingerprints'));
}

export interface LoadedFingerprints {
  catalogue: RuleCatalog;
  /** The sets in addition to the builtin signatures, highest precedence first. */
  sets: (SignatureSet & { file: string })[];
  /** Problems of skipped sets and files, for display. */
  problems: string[];
}

/**
 * Every signature in force: files of `fingerprint.rules`, installed sets, synced sets, builtin ones. Skips and
 * reports unusable sets; downloads nothing.
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
  // Earlier sets take precedence, so they are applied last.
  const catalogue = sets.reduceRight((below, set) => below.extendedBy(namedSet(set)), builtinRules);
  return { catalogue, sets, problems };
}

async function readRulesFile(file: string): Promise<LoadedFingerprints['sets'][number]> {
  const { readSignatureFile } = await import('../../knowledge/rules/signature-file.ts');
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
