import { invalidRequest } from '../../domain/errors.ts';
import { scanIdPattern } from '../../domain/scan.ts';

/** Maximum number of scans that one stream follows. */
export const maxFollowedScans = 16;

/** Place of a reader: in the events of the service, and by scan the last row of its record. */
export interface StreamPosition {
  epoch: string;
  sequence: number;
  rows: Map<string, number>;
}

/** Where a scan is followed from: after a row, 0 = the whole record; `end` = only what is new. */
export interface FollowedScan {
  scanId: string;
  from: number | 'end';
}

/** Id of an event: `<epoch>.<sequence>`, then `;<scan_id>=<row>` for each scan that is followed. */
export function positionText({ epoch, sequence, rows }: StreamPosition): string {
  const scans = [...rows].map(([scanId, row]) => `;${scanId}=${row}`);
  return `${epoch}.${sequence}${scans.join('')}`;
}

/** The id of an event of a scan, around its row. @returns the text before and behind it */
export function positionAround(
  { epoch, sequence, rows }: StreamPosition,
  scanId: string,
): { before: string; behind: string } {
  const scans = [...rows].map(([each, row]) => (each === scanId ? null : `;${each}=${row}`));
  const at = scans.indexOf(null);
  const [earlier, later] = at < 0 ? [scans, []] : [scans.slice(0, at), scans.slice(at + 1)];
  return { before: `${epoch}.${sequence}${earlier.join('')};${scanId}=`, behind: later.join('') };
}

const servicePart = /^([0-9a-f]{12})\.(\d{1,15})$/;
const rowPart = /^([^=]{1,40})=(\d{1,15})$/;

/** @returns null without the header @throws PortolanError `invalid_request` */
export function readPosition(text: string | undefined): StreamPosition | null {
  if (text === undefined || text === '') return null;
  const [service = '', ...scans] = text.split(';', maxFollowedScans + 2);
  const [, epoch, sequence] = servicePart.exec(service) ?? [];
  const rows = scans.map((one) => rowPart.exec(one));
  const known = rows.every((row) => row !== null && scanIdPattern.test(row[1] ?? ''));
  if (epoch === undefined || !known || scans.length > maxFollowedScans) throw badPosition();
  return {
    epoch,
    sequence: Number(sequence),
    rows: new Map(rows.map((row) => [row?.[1] ?? '', Number(row?.[2])])),
  };
}

function badPosition() {
  const reason = 'must be the id of an event';
  return invalidRequest(`Last-Event-ID ${reason}`, [{ field: 'Last-Event-ID', reason }]);
}

const followed = /^([^@]{1,40})(?:@(\d{1,15}))?$/;

/**
 * The scans of the parameter `scan`, each `<scan_id>` or `<scan_id>@<row>`. A position wins over a row.
 * @throws PortolanError `invalid_request`
 */
export function readFollowedScans(given: readonly string[], position: StreamPosition | null): FollowedScan[] {
  const scans = new Map<string, FollowedScan>();
  for (const text of given) {
    const [, scanId = '', row] = followed.exec(text) ?? [];
    if (!scanIdPattern.test(scanId)) throw badScan();
    const from = position?.rows.get(scanId) ?? (row === undefined ? 'end' : Number(row));
    scans.set(scanId, { scanId, from });
  }
  return [...scans.values()];
}

function badScan() {
  const reason = 'must be the id of a scan, or <id>@<row>';
  return invalidRequest(`scan ${reason}`, [{ field: 'scan', reason }]);
}
