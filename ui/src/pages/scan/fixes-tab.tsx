import { useState } from 'react';
import { countsAs } from '../../../../src/domain/finding-order.ts';
import type { Data } from '../../api/api-types.ts';
import { downloadText } from '../../api/download.ts';
import { useGet } from '../../api/use-get.ts';
import { Button } from '../../components/controls/button.tsx';
import { saveExport } from '../../components/controls/save-file.ts';
import { toast } from '../../components/controls/toasts.tsx';
import { Icon } from '../../components/icons/icon.tsx';
import { ClassMark } from '../../components/marks/class-mark.tsx';
import { Exploited } from '../../components/marks/exploited.tsx';
import { SeverityCounts } from '../../components/marks/severity-counts.tsx';
import { SeverityMark } from '../../components/marks/severity-mark.tsx';
import { QueryBar } from '../../components/query/query-bar.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { copyText } from '../../components/text/copy-text.ts';
import { TargetText } from '../../components/text/target-text.tsx';
import { count } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { Link } from '../../url/link.tsx';
import { searchText } from '../../url/search-text.ts';
import { useSearchParam } from '../../url/use-search-param.ts';
import type { FindingRecord } from './record-types.ts';
import { findingKey, portText, worstFirst } from './result-rows.ts';
import { useScanId } from './use-scan.ts';

type Fix = Data<'/api/v1/scans/{scan_id}/fixes'>['fixes'][number];

const pageSize = 100;

/** One row per action that removes findings, by urgency, each with its reason. */
export default function FixesTab() {
  const scanId = useScanId();
  const [q, setQ] = useSearchParam('q');
  const [open, setOpen] = useSearchParam('open');
  const [limit, setLimit] = useState(pageSize);
  const got = useGet(
    '/api/v1/scans/{scan_id}/fixes',
    { path: { scan_id: scanId }, query: { q, limit } },
    { keep: true },
  );
  return (
    <>
      <div className="flex flex-wrap items-start gap-2">
        <div className="min-w-0 grow basis-80">
          <QueryBar
            value={q}
            onChange={(text) => setQ(text)}
            label="Filter the fix list"
            placeholder="Filter, for example kev:yes class:certain"
            problem={got.error?.reasonOf('q') ?? null}
          />
        </div>
        <Button onClick={() => saveExport(scanId, 'csv')}>Export CSV</Button>
        <Button onClick={() => saveExport(scanId, 'sarif')}>Export SARIF</Button>
      </div>
      <Boundary got={got} rows={8}>
        {({ fixes, total }) => (
          <>
            <p className="py-2 text-size-12" role="status">
              <strong className="font-semibold">{plural(total, 'action')}.</strong>{' '}
              <span className="text-text-2">
                By severity; exploited and at least likely first, then certain, likely, possible.
              </span>
            </p>
            {total === 0 && (
              <Empty
                title="Nothing to fix"
                text={q === '' ? 'This scan has no findings.' : 'No finding matches this filter.'}
              />
            )}
            <ol className="border-line border-t">
              {fixes.map((fix, index) => (
                <FixRow
                  key={fix.key}
                  fix={fix}
                  rank={index + 1}
                  q={q}
                  scanId={scanId}
                  isOpen={open === fix.key}
                  onToggle={() => setOpen(open === fix.key ? null : fix.key, { replace: true })}
                />
              ))}
            </ol>
            {total > fixes.length && (
              <Button onClick={() => setLimit(limit + pageSize)}>
                Show {count(Math.min(pageSize, total - fixes.length))} more
              </Button>
            )}
          </>
        )}
      </Boundary>
    </>
  );
}

interface FixRowProps {
  fix: Fix;
  rank: number;
  q: string;
  scanId: string;
  isOpen: boolean;
  onToggle: () => void;
}

function FixRow({ fix, rank, q, scanId, isOpen, onToggle }: FixRowProps) {
  const id = `fix-${rank}`;
  return (
    <li className="border-line-subtle border-b">
      <button
        type="button"
        className="grid w-full grid-cols-[16px_28px_minmax(0,1fr)] items-center gap-x-3 py-1.5 text-left hover:bg-surface-2 tablet:grid-cols-[16px_28px_minmax(0,1fr)_72px_72px_96px_196px]"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={onToggle}
      >
        <Icon name={isOpen ? 'down' : 'right'} size={14} />
        <span className="text-right text-text-3">{rank}</span>
        <span className="min-w-0">
          <span className="block truncate font-medium max-tablet:whitespace-normal">
            <TargetText text={fix.text} />
          </span>
          <span className="block truncate text-size-12 text-text-2 max-tablet:whitespace-normal">
            <TargetText text={fix.reason} />
          </span>
        </span>
        <span className="max-tablet:hidden">{fix.exploited && <Exploited />}</span>
        <span className="whitespace-nowrap text-right max-tablet:hidden">{plural(fix.hosts, 'host')}</span>
        <span className="whitespace-nowrap text-right max-tablet:hidden">
          {plural(fix.findings, 'finding')}
        </span>
        <span className="max-tablet:hidden">
          <SeverityCounts counts={fix.severity_counts} slots />
        </span>
      </button>
      {isOpen && (
        <div id={id} className="pb-3 pl-14">
          <Places fix={fix} q={q} scanId={scanId} rank={rank} />
        </div>
      )}
    </li>
  );
}

const shownPlaces = 20;

function Places({ fix, q, scanId, rank }: { fix: Fix; q: string; scanId: string; rank: number }) {
  const own = `action:${JSON.stringify(fix.key)}`;
  const query = q === '' ? own : `${own} (${q})`;
  const got = useGet('/api/v1/scans/{scan_id}/records', {
    path: { scan_id: scanId },
    query: { type: 'vulnerability', q: query, sort: worstFirst, limit: shownPlaces },
  });
  const copyTicket = () =>
    void downloadText(`/api/v1/workspace/scans/${scanId}/export?format=markdown&fix=${rank}`)
      .then((text) => copyText(text))
      .then(
        () => toast('Ticket copied as Markdown'),
        (error: Error) => toast(error.message),
      );
  return (
    <Boundary got={got} rows={3}>
      {({ records, total }) => (
        <>
          <table className="w-full">
            <thead>
              <tr className="text-left text-size-11 text-text-3">
                <th className="py-1 font-medium">Address</th>
                <th className="font-medium">Port</th>
                <th className="font-medium">Finding</th>
                <th className="font-medium max-tablet:hidden">Seen</th>
                <th className="font-medium">How sure</th>
              </tr>
            </thead>
            <tbody>
              {(records as unknown as FindingRecord[]).map((record) => (
                <tr key={findingKey(record)} className="border-line-subtle border-t">
                  <td className="h-7 pr-3">
                    <TargetText text={record.host} mono cut="middle" max={39} />
                  </td>
                  <td className="mono pr-3">{portText(record)}</td>
                  <td className="pr-3">
                    <span className="flex items-center gap-2">
                      <SeverityMark severity={countsAs(record.vulnerability)} bare />
                      <Link
                        to={`/scans/${scanId}/findings${searchText({ q: query, open: findingKey(record) })}`}
                      >
                        <TargetText text={record.vulnerability.id} mono />
                      </Link>
                      <span className="max-desk:hidden">
                        <TargetText text={record.vulnerability.title} max={60} />
                      </span>
                      {record.vulnerability.kev && <Exploited />}
                    </span>
                  </td>
                  <td className="pr-3 max-tablet:hidden">
                    <TargetText text={record.vulnerability.detected ?? '–'} max={40} />
                  </td>
                  <td>{record.vulnerability.class && <ClassMark value={record.vulnerability.class} />}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <div className="flex flex-wrap items-center gap-2 pt-2">
            {total > records.length && (
              <span className="text-text-2">{plural(total - records.length, 'more finding')}</span>
            )}
            <span className="grow" />
            {q === '' && (
              <Button icon="copy" onClick={copyTicket}>
                Copy as ticket
              </Button>
            )}
            <Link to={`/scans/${scanId}/findings${searchText({ q: query })}`}>Show these findings</Link>
          </div>
        </>
      )}
    </Boundary>
  );
}
