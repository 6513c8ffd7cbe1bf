import { Button } from '../../components/controls/button.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { useSetSearch } from '../../url/use-search-param.ts';
import { hasEnded, type Scan } from './use-scan.ts';

/** In place of a table without rows: because of the filter, because the scan runs, or because there is nothing. */
export function EmptyRecords({
  scan,
  of,
  q,
}: {
  scan: Scan;
  of: 'hosts' | 'services' | 'findings';
  q: string;
}) {
  const setSearch = useSetSearch();
  if (q !== '')
    return (
      <Empty
        title={`No ${of.slice(0, -1)} matches this filter`}
        text="Drop a condition of the filter, or all of them."
        action={<Button onClick={() => setSearch({ q: null })}>Clear the filter</Button>}
      />
    );
  if (!hasEnded(scan))
    return <Empty title={`No ${of} yet`} text="They appear here as the scan finds them." />;
  return <Empty title={`No ${of}`} text={`This scan found no ${of}. Coverage shows what it tried.`} />;
}
