import { serverNow } from '../../api/server-clock.ts';
import { useGet } from '../../api/use-get.ts';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { Changes } from './changes.tsx';
import { FirstScan } from './first-scan.tsx';
import { FixFirst } from './fix-first.tsx';
import { RunningScans } from './running-scans.tsx';
import { Service } from './service.tsx';
import { Totals } from './totals.tsx';

/** Comparisons that are still being computed are read again after this long, milliseconds. */
const pendingMs = 2000;

/** What is open now, what changed, what to fix first, and how the service is. */
export default function DashboardPage() {
  const any = useGet('/api/v1/scans', { query: { limit: 1 } });
  if (any.data?.total === 0) return <FirstScan />;
  return (
    <>
      <PageHeader
        title="Dashboard"
        actions={
          <>
            <span className="mr-1 text-text-2 max-tablet:hidden">
              <TimeText at={Math.floor(serverNow() / 60_000) * 60_000} />
            </span>
            <LinkButton to="/scans/new" variant="primary" icon="plus">
              New scan
            </LinkButton>
          </>
        }
      />
      <Boundary got={any} what="The scans" doing="see scans" rows={10}>
        {() => <Content />}
      </Boundary>
    </>
  );
}

function Content() {
  const got = useDashboard();
  return (
    <Boundary got={got} what="The dashboard" doing="see scans" rows={10}>
      {(dashboard) => (
        <>
          <Totals dashboard={dashboard} />
          <div className="grid gap-x-9 gap-y-8 pt-8 desk:grid-cols-[minmax(0,1fr)_276px]">
            <div className="flex min-w-0 flex-col gap-8">
              <Changes dashboard={dashboard} />
              <FixFirst dashboard={dashboard} />
            </div>
            <div className="flex min-w-0 flex-col gap-8">
              <RunningScans />
              <Service />
            </div>
          </div>
        </>
      )}
    </Boundary>
  );
}

function useDashboard() {
  const first = useGet('/api/v1/dashboard', {}, { keep: true });
  const isPending = first.data?.pending === true;
  return useGet('/api/v1/dashboard', {}, { keep: true, ...(isPending && { every: pendingMs }) });
}
