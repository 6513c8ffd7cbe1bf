import type { PacketRate } from '../../domain/packet-rate.ts';
import type { ScanOptions } from '../../domain/scan.ts';

/** Maximum number of targets, and of exclusions, comma lists expanded. */
export const maxTargets = 10_000;
/** Maximum length of a scan's name, characters. */
export const maxNameLength = 200;
/** Maximum number of tags of a scan. */
export const maxTags = 32;
/** Maximum length of a tag, characters. */
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
  rate?: PacketRate | undefined;
  dag?: string | undefined;
  /** Files of one scan, which its route takes out. */
  graph?: object | undefined;
  plugins?: object | undefined;
  pool?: string | undefined;
  priority?: number | undefined;
  options?: ScanOptions | undefined;
}
