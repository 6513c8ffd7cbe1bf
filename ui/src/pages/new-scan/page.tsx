import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { fetchGet } from '../../api/use-get.ts';
import { toast } from '../../components/controls/toasts.tsx';
import { Icon } from '../../components/icons/icon.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Link } from '../../url/link.tsx';
import { useSearchParam, useSetSearch } from '../../url/use-search-param.ts';
import { changeDraft, clearDraft } from './draft.ts';

export const steps = [
  { path: '/scans/new', label: 'Targets' },
  { path: '/scans/new/profile', label: 'Profile' },
  { path: '/scans/new/options', label: 'Options' },
  { path: '/scans/new/notifications', label: 'Notifications' },
  { path: '/scans/new/review', label: 'Review' },
] as const;

const crumbs = [{ label: 'Scans', to: '/scans' }];

/** The way to a scan: each step has a URL, and nothing is sent before the end. */
export default function NewScanPage() {
  useStartFrom();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const at = steps.findIndex((step) => step.path === path.replace(/\/$/, ''));
  return (
    <>
      <PageHeader
        title="New scan"
        crumbs={crumbs}
        actions={
          <nav aria-label="Steps">
            <ol className="flex flex-wrap items-center gap-x-4 gap-y-1">
              {steps.map(({ path: to, label }, index) => (
                <li key={to}>
                  <Link
                    to={to}
                    aria-current={index === at ? 'step' : undefined}
                    className={`flex min-h-6 items-center gap-1.5 ${index === at ? 'font-semibold text-text-1' : 'text-text-2'}`}
                  >
                    {index < at ? <Icon name="check" size={14} /> : <span>{index + 1}</span>}
                    {label}
                  </Link>
                </li>
              ))}
            </ol>
          </nav>
        }
      />
      <Outlet />
    </>
  );
}

/** Fills the draft from another scan, or from targets that the URL names. */
function useStartFrom(): void {
  const [from] = useSearchParam('from');
  const [targets] = useSearchParam('targets');
  const [discover] = useSearchParam('discover');
  const setSearch = useSetSearch();
  useEffect(() => {
    if (from === '' && targets === '') return;
    clearDraft();
    if (targets !== '') changeDraft({ targets });
    if (discover === 'no') changeDraft({ discover: false });
    setSearch({ from: null, targets: null, discover: null }, { replace: true });
    if (from === '') return;
    fetchGet('/api/v1/scans/{scan_id}', { path: { scan_id: from } }).then(
      (scan) =>
        changeDraft({
          targets: scan.targets.join('\n'),
          name: scan.name ?? '',
          tags: scan.tags.join(' '),
          profile: scan.profile,
          vuln: scan.vuln,
          notifications: scan.notifications.map(({ channel }) => channel).join(' '),
        }),
      (error: Error) => toast(`The scan cannot be read: ${error.message}`),
    );
  }, [from, targets, discover, setSearch]);
}
