import { useGet } from '../../api/use-get.ts';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Strip } from '../../components/layout/strip.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { BytesText } from '../../components/text/bytes-text.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { duration } from '../../format/durations.ts';
import { bytes, count } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { Cleanup } from './cleanup.tsx';

const dayMs = 24 * 60 * 60 * 1000;

/** How much is stored, and what old scans would free. */
export default function WorkspacePage() {
  const got = useGet('/api/v1/workspace/info', {});
  return (
    <>
      <PageHeader title="Workspace" actions={<LinkButton to="/scans">All scans</LinkButton>} />
      <Boundary got={got} what="The workspace" doing="see the workspace" rows={4}>
        {({ path, size_bytes: size, scan_count: scans, oldest_scan, newest_scan }) => (
          <>
            <div>
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
                    key: 'span',
                    label: 'Time covered',
                    value:
                      oldest_scan === null || newest_scan === null ? '–' : spanText(oldest_scan, newest_scan),
                    note: oldest_scan !== null && (
                      <>
                        <TimeText at={oldest_scan} form="date" />
                        {oldest_scan.slice(0, 10) !== newest_scan?.slice(0, 10) && (
                          <>
                            {' '}
                            to <TimeText at={newest_scan} form="date" />
                          </>
                        )}
                      </>
                    ),
                  },
                ]}
              />
            </div>
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

/** In whole days where it is more than one. */
function spanText(oldest: string, newest: string): string {
  const span = Math.max(0, Date.parse(newest) - Date.parse(oldest));
  if (span < 60_000) return 'less than a minute';
  return span < dayMs ? duration(span).replace(/ \d+ s$/, '') : plural(Math.floor(span / dayMs), 'day');
}
