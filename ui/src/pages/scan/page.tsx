import { Outlet } from '@tanstack/react-router';
import { TabLinks } from '../../components/controls/tab-links.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { usePageTitle } from '../../url/page-title.ts';
import { RunningScan } from './running-scan.tsx';
import { ScanHeader } from './scan-header.tsx';
import { hasEnded, type Scan, scanTitle, useScan } from './use-scan.ts';

const crumbs = [{ label: 'Scans', to: '/scans' }];

/** A scan: what it is, how far it is, and its results in tabs. */
export default function ScanPage() {
  const got = useScan();
  usePageTitle(got.data ? scanTitle(got.data) : got.scanId, crumbs);
  if (got.error && !got.data)
    return (
      <>
        <PageHeader title="Scan" crumbs={crumbs} meta={<Mono>{got.scanId}</Mono>} />
        <Boundary got={got} what="The scan" list={{ to: '/scans', label: 'All scans' }}>
          {() => null}
        </Boundary>
      </>
    );
  return (
    <Boundary got={got} rows={8}>
      {(scan) => (
        <>
          <ScanHeader scan={scan} />
          {!hasEnded(scan) && <RunningScan scan={scan} />}
          <TabLinks tabs={tabsOf(scan)} label="Parts of this scan" />
          <div className="pt-3">
            <Outlet />
          </div>
        </>
      )}
    </Boundary>
  );
}

function tabsOf({ scan_id, results, stages }: Scan) {
  const base = `/scans/${scan_id}`;
  return [
    { to: base, label: 'Overview', exact: true },
    { to: `${base}/hosts`, label: 'Hosts', count: results.live_hosts },
    { to: `${base}/services`, label: 'Services', count: results.open_ports },
    { to: `${base}/findings`, label: 'Findings', count: results.vulnerabilities },
    { to: `${base}/fixes`, label: 'Fix list' },
    { to: `${base}/coverage`, label: 'Coverage' },
    { to: `${base}/stages`, label: 'Stages', count: stages.length },
    { to: `${base}/events`, label: 'Events' },
    { to: `${base}/raw`, label: 'Raw' },
  ];
}
