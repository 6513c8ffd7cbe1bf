import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { ScanWarning } from '../../domain/scan.ts';
import { maxBannerFiles, writeBannerFiles } from '../../workspace/record/banner-artifacts.ts';
import { compressRecord } from '../../workspace/record/record-compress.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';

/** What to retain of scans, and how (`workspace.scans`). */
export type RetainRules = Config['workspace']['scans'];

/**
 * Gives a finished record its final form: writes artifacts and compresses it. The results are safe already, so a
 * failure here is a warning and does not fail the scan. Idempotent.
 */
export async function finalizeRecord(folder: ScanFolder, keep: RetainRules): Promise<ScanWarning[]> {
  const warnings: ScanWarning[] = [];
  if (keep.keep_artifacts) {
    const left = await attempt(warnings, 'artifacts_incomplete', 'could not write the banners as files', () =>
      writeBannerFiles(folder),
    );
    if (left) {
      const message = `${left} banners beyond the first ${maxBannerFiles} were not written as files; the results contain them`;
      warnings.push({ code: 'artifacts_incomplete', message });
    }
  }
  if (keep.compress) {
    await attempt(warnings, 'not_compressed', 'could not compress the results', () => compressRecord(folder));
  }
  return warnings;
}

async function attempt<T>(
  warnings: ScanWarning[],
  code: string,
  consequence: string,
  work: () => Promise<T>,
): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    warnings.push({ code, message: `${consequence}: ${reasonOf(error)}` });
    return null;
  }
}

/** System messages contain paths, so only the code is reported. */
function reasonOf(error: unknown): string {
  if (error instanceof PortolanError) return error.message;
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
}
