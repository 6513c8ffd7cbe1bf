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
