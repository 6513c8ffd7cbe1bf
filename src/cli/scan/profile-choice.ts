import type { ModuleCatalog } from '../../scan-run/plan/plan-scan.ts';

/** Whether `--profile` names a file of this machine: a path, or a name with an extension. */
export function isProfileFile(profile: string): boolean {
  return /[/\\]|\.(?:ya?ml|json)$/i.test(profile);
}

/**
 * The installed profiles and the one of a file.
 * @returns the name of that one, too
 * @throws PortolanError `usage`, `invalid_request` with every problem of the file and its place
 */
export async function withProfileFile(
  catalogue: ModuleCatalog,
  file: string,
): Promise<{ catalogue: ModuleCatalog; profile: string }> {
  const { library, name } = await catalogue.library.withProfile(file, catalogue.registry);
  return { catalogue: { ...catalogue, library }, profile: name };
}
