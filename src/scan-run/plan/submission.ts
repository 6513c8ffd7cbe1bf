import type { ScanOptions } from '../../domain/scan.ts';

export const maxTargets = 10_000;
export const maxNameLength = 200;
export const maxTags = 32;
export const maxTagLength = 64;

/** Body of a submission after type checks; defaults are applied later. */
export interface Submission {
  targets: string[];
  profile?: string | undefined;
  vuln?: boolean | undefined;
  notifications?: string[] | undefined;
  name?: string | null | undefined;
  tags?: string[] | undefined;
  ports?: string | number[] | undefined;
  exclude?: string[] | undefined;
  rate?: number | undefined;
  dag?: string | undefined;
  pool?: string | undefined;
  options?: ScanOptions | undefined;
}
