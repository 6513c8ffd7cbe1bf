import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PackageFixes } from '../import/import-fixes.ts';
import { damagedBlock } from './block-file.ts';
import { fixesKey, type PackedFix } from './generation-format.ts';
import type { GenerationManifest } from './manifest.ts';

/** What a distribution says about one package, as `fixes.json` stores it. */
export type StoredFixes = [
  distribution: string,
  release: string,
  name: string,
  fixed: Record<string, string | null>,
];

/** Statements by their shard. */
export function groupFixes(statements: StoredFixes[]): Map<string, PackedFix[]> {
  const groups = new Map<string, PackedFix[]>();
  for (const [distribution, release, name, fixed] of statements) {
    for (const [cve, version] of Object.entries(fixed)) {
      const key = fixesKey(distribution, release, cve);
      const list = groups.get(key);
      if (list) list.push([cve, name, version]);
      else groups.set(key, [[cve, name, version]]);
    }
  }
  return groups;
}

export function packageKey(fixes: Pick<PackageFixes, 'distribution' | 'release' | 'package'>): string {
  return `${fixes.distribution}\u0000${fixes.release}\u0000${fixes.package}`;
}

/** @param folder of a generation @throws PortolanError `conflict` */
export function readFixes(folder: string): StoredFixes[] {
  try {
    return JSON.parse(readFileSync(join(folder, 'fixes.json'), 'utf8')) as StoredFixes[];
  } catch (error) {
    throw damagedBlock('cannot read fixes.json', error);
  }
}

/** An added package replaces everything known of it. */
export function mergeFixes(old: StoredFixes[], added: Map<string, PackageFixes> | null): StoredFixes[] {
  const merged = new Map<string, StoredFixes>();
  for (const stored of old) {
    const [distribution, release, name] = stored;
    merged.set(packageKey({ distribution, release, package: name }), stored);
  }
  for (const { distribution, release, package: name, fixed } of added?.values() ?? []) {
    merged.set(packageKey({ distribution, release, package: name }), [
      distribution,
      release,
      name,
      Object.fromEntries(fixed),
    ]);
  }
  return [...merged.values()];
}

/** Statements of each release of each distribution. */
export function countFixes(fixes: StoredFixes[]): GenerationManifest['distributions'] {
  const releases = new Map<string, GenerationManifest['distributions'][number]>();
  for (const [distribution, release, , fixed] of fixes) {
    const key = `${distribution} ${release}`;
    const entry = releases.get(key) ?? { distribution, release, statements: 0 };
    entry.statements += Object.keys(fixed).length;
    releases.set(key, entry);
  }
  return [...releases.values()];
}
