import { objectAt, RecordProblem, textAt } from './checked-fields.ts';
import { cveIdAt } from './import-nvd.ts';

export interface KevEntry {
  id: string;
  /** `2025-08-25` */
  added: string;
  /** Used in ransomware campaigns, according to CISA. */
  ransomware: boolean;
}

/** Reads an entry of CISA's list of known exploited vulnerabilities. @throws RecordProblem */
export function readKevEntry(value: unknown): KevEntry {
  const fields = objectAt(value, 'entry');
  const id = cveIdAt(fields['cveID'], 'cveID');
  const added = textAt(fields['dateAdded'], 'dateAdded', 10);
  if (!/^\d{4}-\d\d-\d\d$/.test(added) || Number.isNaN(Date.parse(added))) {
    throw new RecordProblem('dateAdded', 'must be a date');
  }
  return { id, added, ransomware: fields['knownRansomwareCampaignUse'] === 'Known' };
}
