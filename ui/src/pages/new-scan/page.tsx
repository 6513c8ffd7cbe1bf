import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
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
  const content = useFocusOnChange(at);
  return (
    <>
      <PageHeader title="New scan" crumbs={crumbs} actions={<Steps at={at} />} />
      <div ref={content} tabIndex={-1} role="group" aria-label={steps[at]?.label} className="outline-none">
        <Outlet />
      </div>
    </>
  );
}

function Steps({ at }: { at: number }) {
  return (
    <nav aria-label="Steps" className="pt-1">
      <ol className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        {steps.map(({ path, label }, index) => (
          <li key={path} className="flex items-center gap-2.5">
            {index > 0 && <span className="h-px w-4 bg-line-strong max-desk:hidden" aria-hidden />}
            <Link
              to={path}
              aria-current={index === at ? 'step' : undefined}
              className={`flex min-h-6 items-center gap-1.5 hover:text-text-1 ${index === at ? 'font-semibold text-text-1' : 'text-text-2'}`}
            >
              <StepMark index={index} at={at} />
              {label}
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function StepMark({ index, at }: { index: number; at: number }) {
  if (index < at) return <Icon name="check" size={14} className="text-state-completed" />;
  return (
    <span
      className={`flex size-[18px] items-center justify-center rounded-full text-size-11 ${index === at ? 'bg-accent text-on-accent' : 'border border-line-strong'}`}
    >
      {index + 1}
    </span>
  );
}

/** The link that led to a step is gone with the step before: the focus goes to its content. */
function useFocusOnChange(at: number) {
  const content = useRef<HTMLDivElement>(null);
  const former = useRef(at);
  useEffect(() => {
    if (former.current !== at) content.current?.focus({ preventScroll: true });
    former.current = at;
  }, [at]);
  return content;
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
