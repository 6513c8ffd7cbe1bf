import { useGet } from '../../api/use-get.ts';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Strip } from '../../components/layout/strip.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { BytesText } from '../../components/text/bytes-text.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { bytes, count } from '../../format/numbers.ts';
import { Cleanup } from './cleanup.tsx';

/** How much is stored, and what old scans would free. */
export default function WorkspacePage() {
  const got = useGet('/api/v1/workspace/info', {});
  return (
    <>
      <PageHeader title="Workspace" actions={<LinkButton to="/scans">All scans</LinkButton>} />
      <Boundary got={got} what="The workspace" doing="see the workspace" rows={4}>
        {({ path, size_bytes: size, scan_count: scans, oldest_scan, newest_scan }) => (
          <>
            <Strip
              label="Workspace"
              numbers={[
                { key: 'size', label: 'Size', value: <BytesText bytes={size} /> },
                {
                  key: 'scans',
                  label: 'Scans',
                  value: count(scans),
                  note: scans === 0 ? undefined : `${bytes(Math.round(size / scans))} each on average`,
                },
                {
                  key: 'oldest',
                  label: 'Oldest',
                  value: oldest_scan === null ? '–' : <TimeText at={oldest_scan} form="date" />,
                  note: oldest_scan !== null && <TimeText at={oldest_scan} relative />,
                },
                {
                  key: 'newest',
                  label: 'Newest',
                  value: newest_scan === null ? '–' : <TimeText at={newest_scan} form="date" />,
                  note: newest_scan !== null && <TimeText at={newest_scan} relative />,
                },
              ]}
            />
            <p className="py-3 text-text-2">
              Scans, their results and reports are in the folder <TargetText text={path} mono wrap /> of the
              server.
            </p>
          </>
        )}
      </Boundary>
      <Cleanup />
    </>
  );
}
