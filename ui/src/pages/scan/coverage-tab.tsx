import { useGet } from '../../api/use-get.ts';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { Section } from '../../components/layout/section.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Num } from '../../components/text/num.tsx';
import { coverageRows } from './overview-tab.tsx';
import { type Scan, useScan } from './use-scan.ts';

/** What was asked, what responded, what was tried and what was not. */
export default function CoverageTab() {
  const { data: scan, scanId } = useScan();
  const got = useGet('/api/v1/scans/{scan_id}/coverage', { path: { scan_id: scanId } });
  if (!scan) return null;
  return (
    <div className="flex max-w-[680px] flex-col gap-8">
      <Boundary got={got} rows={8}>
        {(coverage) => (
          <Section title="Coverage">
            <KeyValues rows={coverageRows(coverage)} />
          </Section>
        )}
      </Boundary>
      <Ports stages={scan.stages} />
    </div>
  );
}

function Ports({ stages }: Pick<Scan, 'stages'>) {
  const covered = stages.filter(({ coverage }) => coverage);
  if (covered.length === 0) return null;
  return (
    <Section title="Ports" note="by the stage that tried them">
      <table className="w-full">
        <thead>
          <tr className="text-size-11 text-text-3">
            <th className="py-1 text-left font-medium">Stage</th>
            {['Open', 'Closed', 'Filtered', 'Not tried'].map((head) => (
              <th key={head} className="text-right font-medium">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {covered.map(({ instance_id, coverage, method }) => (
            <tr key={instance_id} className="border-line-subtle border-t">
              <th scope="row" className="h-9 text-left font-normal">
                {instance_id}
                {method && <span className="block text-size-12 text-text-2">{method}</span>}
              </th>
              <td className="text-right">
                <Num value={coverage?.open ?? 0} />
              </td>
              <td className="text-right">
                <Num value={coverage?.closed ?? 0} />
              </td>
              <td className="text-right">
                <Num value={coverage?.filtered ?? 0} />
              </td>
              <td className="text-right">
                <Num value={coverage?.not_tried ?? 0} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}
