import type { ModuleCatalog } from '../../scan-run/plan/plan-scan.ts';

/** Whether `--profile` is a local file: a path, or a name with an extension. */
export function isProfileFile(profile: string): boolean {
  return /[/\\]|\.(?:ya?ml|json)$/i.test(profile);
}

/**
 * The installed profiles plus that of a file.
 * @returns the catalog with the profile, and its name
 * @throws PortolanError `usage`, `invalid_request` with every problem of the file and its location
 */
export async function withProfileFile(
  catalogue: ModuleCatalog,
  file: string,
): Promise<{ catalogue: ModuleCatalog; profile: string }> {
  const { library, name } = await catalogue.library.withProfile(file, catalogue.registry);
  return { catalogue: { ...catalogue, library }, profile: name };
}
