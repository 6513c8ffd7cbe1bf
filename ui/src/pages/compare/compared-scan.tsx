import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { Field } from '../../components/controls/field.tsx';
import { Select } from '../../components/controls/select.tsx';
import { useNow } from '../../components/text/now.ts';
import { useTimeZone } from '../../components/text/time-zone.ts';
import { visibleText } from '../../format/target-text.ts';
import { dateTime } from '../../format/times.ts';
import { type NamedScan, scanTitle } from '../scan/use-scan.ts';

export type ListedScan = Data<'/api/v1/scans'>['scans'][number];

interface ComparedScanProps {
  label: string;
  value: string;
  scans: readonly ListedScan[];
  onChange: (scanId: string) => void;
}

/** Choice of one side. A scan that is too old for the list is named all the same. */
export function ComparedScan({ label, value, scans, onChange }: ComparedScanProps) {
  const nameOf = useScanName();
  const isListed = value === '' || scans.some(({ scan_id }) => scan_id === value);
  const { data } = useGet('/api/v1/scans/{scan_id}', { path: { scan_id: value } }, { enabled: !isListed });
  const options = scans.map((scan) => ({ value: scan.scan_id, label: nameOf(scan), hint: scan.scan_id }));
  if (!isListed) options.push({ value, label: data ? nameOf(data) : 'Scan', hint: value });
  return (
    <Field label={label}>
      <Select
        value={value === '' ? null : value}
        options={options}
        placeholder="Choose a scan"
        onChange={onChange}
      />
    </Field>
  );
}

type DatedScan = NamedScan & Pick<ListedScan, 'completed_at' | 'created_at'>;

/** `Berlin office, Sat, Nov 21, 14:14 UTC`. */
export function useScanName(): (scan: DatedScan) => string {
  const now = useNow();
  const zone = useTimeZone();
  return (scan) =>
    `${visibleText(scanTitle(scan)).slice(0, 80)}, ${dateTime(scan.completed_at ?? scan.created_at, now, zone)}`;
}

/** The newest scan that has an earlier run, or the one that was chosen, with the run before it; null for none. */
export function previousRun(
  scans: readonly ListedScan[],
  chosen: string,
): { after: string; before: string } | null {
  const candidates = chosen === '' ? scans : scans.filter(({ scan_id }) => scan_id === chosen);
  for (const scan of candidates) {
    const older = scans.find(
      (each) => each.created_at < scan.created_at && seriesOf(each) === seriesOf(scan),
    );
    if (older) return { after: scan.scan_id, before: older.scan_id };
  }
  return null;
}

/** Runs of one name belong together; without a name, those of the same targets, as far as the list has them. */
function seriesOf({ name, targets, targets_total: total = targets.length }: ListedScan): string {
  return name === null || name === '' ? `targets ${total} ${targets.join()}` : `name ${name}`;
}
