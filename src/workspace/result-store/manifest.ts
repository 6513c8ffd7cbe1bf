import { PortolanError } from '../../domain/errors.ts';

/** One file of a scan in the result store. */
export interface StoredFile {
  /** Path below the folder of the scan, with `/`. */
  name: string;
  /** Bytes. */
  size: number;
  /** Hexadecimal. */
  sha256: string;
}

/**
 * `manifest.json` seals a stored scan: written last and removed first, so it implies that everything is there.
 * `contents.json`, written first and removed last, has only the names, to find leftovers of a crash.
 */
export interface ResultManifest {
  version: 1;
  scan_id: string;
  files: readonly StoredFile[];
}

/** Names of the two; no file of a scan has them. */
export const manifestName = 'manifest.json';
export const contentsName = 'contents.json';

/** Maximum number of files per stored scan: its banners, and some for the rest. */
export const maxStoredFiles = 110_000;
/** Maximum size of a manifest, bytes. */
export const maxResultManifestBytes = 64 * 1024 * 1024;
/** Maximum length of a file path, characters. */
const maxNameLength = 512;
/** Maximum number of parts of a file path. */
const maxNameDepth = 8;

export function manifestText(scanId: string, files: readonly StoredFile[]): string {
  return `${JSON.stringify({ version: 1, scan_id: scanId, files } satisfies ResultManifest)}\n`;
}

export function contentsText(names: Iterable<string>): string {
  return `${JSON.stringify({ version: 1, names: [...names] })}\n`;
}

/** @throws PortolanError `internal_error` for anything but a manifest of this scan */
export function readResultManifest(text: string, scanId: string): ResultManifest {
  const manifest = parsed(text) as Partial<ResultManifest> | null;
  if (manifest?.version !== 1) throw damagedManifest(scanId, 'their manifest has an unknown format');
  const { files } = manifest;
  if (manifest.scan_id !== scanId || !Array.isArray(files) || files.length > maxStoredFiles)
    throw damagedManifest(scanId, 'their manifest is damaged');
  const isSound = files.every(isStoredFile) && new Set(files.map(({ name }) => name)).size === files.length;
  if (!isSound) throw damagedManifest(scanId, 'their manifest is damaged');
  return { version: 1, scan_id: scanId, files };
}

/** The names in `contents.json`; skips invalid ones. */
export function readContents(text: string): string[] {
  const { names } = (parsed(text) ?? {}) as { names?: unknown };
  if (!Array.isArray(names)) return [];
  return names.slice(0, 2 * maxStoredFiles).filter(isStoredName);
}

/** The names in a manifest; skips invalid ones. */
export function readManifestNames(text: string): string[] {
  const { files } = (parsed(text) ?? {}) as { files?: unknown };
  if (!Array.isArray(files)) return [];
  return files.slice(0, maxStoredFiles).flatMap((file) => {
    const name: unknown = file?.name;
    return isStoredName(name) ? [name] : [];
  });
}

function isStoredFile(file: Partial<StoredFile> | null): boolean {
  return (
    isStoredName(file?.name) &&
    Number.isSafeInteger(file?.size) &&
    Number(file?.size) >= 0 &&
    /^[0-9a-f]{64}$/.test(String(file?.sha256))
  );
}

/** Whether a path is a valid file of a scan below its folder. */
export function isStoredName(name: unknown): name is string {
  if (typeof name !== 'string' || name.length > maxNameLength || /[\p{Cc}\\]/u.test(name)) return false;
  const parts = name.split('/');
  if (parts.length > maxNameDepth || name === manifestName || name === contentsName) return false;
  return parts.every((part) => part !== '' && !part.startsWith('.'));
}

/** @param what the reason, for "Cannot use the stored results of scan …" */
export function damagedManifest(scanId: string, what: string, cause?: unknown): PortolanError {
  const message = `Cannot use the stored results of scan ${scanId}: ${what}.`;
  return new PortolanError('internal_error', message, {}, cause);
}

function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}
