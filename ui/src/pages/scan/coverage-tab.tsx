import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { Section } from '../../components/layout/section.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { Num } from '../../components/text/num.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { plural } from '../../format/words.ts';
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
          <>
            <p>{coverage.text}</p>
            <Section title="Coverage">
              <KeyValues rows={coverageRows(coverage)} />
            </Section>
            <NotTried coverage={coverage} />
          </>
        )}
      </Boundary>
      <Ports stages={scan.stages} />
    </div>
  );
}

type Coverage = Data<'/api/v1/scans/{scan_id}/coverage'>;

/** What was left, each with its reason. */
function NotTried({ coverage }: { coverage: Coverage }) {
  const { unfinished, unfinished_left: left, all_ports_open: openHosts, errors } = coverage;
  return (
    <>
      {unfinished.length > 0 && (
        <Section title="Services not read to the end" note={plural(unfinished.length + left, 'service')}>
          <ul>
            {unfinished.slice(0, shown).map(({ host, port, protocol, stage, missing }) => (
              <li
                key={`${host} ${port}/${protocol} ${stage}`}
                className="flex flex-wrap items-baseline gap-x-3 border-line-subtle border-b py-1.5"
              >
                <Mono>{`${host}:${port}/${protocol}`}</Mono>
                <span className="text-text-2">{missing}</span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {openHosts.length > 0 && (
        <Section title="Hosts that accept every connection" note={plural(openHosts.length, 'host')}>
          <p className="pt-2">
            <TargetText text={openHosts.join(', ')} mono wrap />
          </p>
        </Section>
      )}
      {errors.length > 0 && (
        <Section title="Errors" note={plural(errors.length + coverage.errors_left, 'error')}>
          <ul>
            {errors.slice(0, shown).map(({ code, where, message }) => (
              <li key={`${code} ${where}`} className="border-line-subtle border-b py-1.5">
                <TargetText text={where} mono /> <TargetText text={message} wrap />
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

/** Rows of each list; more are in the results. */
const shown = 50;

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
              <th key={head} className="py-1 pl-3 text-right align-bottom font-medium">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {covered.map(({ instance_id, coverage, method }) => (
            <tr key={instance_id} className="border-line-subtle border-t">
              <th scope="row" className="py-2 text-left font-normal">
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
