import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { Icon } from '../../components/icons/icon.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { LoadingRows } from '../../components/states/loading-rows.tsx';
import { Link } from '../../url/link.tsx';
import { useStartFrom } from './use-start-from.ts';

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
  const isFilling = useStartFrom();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const at = steps.findIndex((step) => step.path === path.replace(/\/$/, ''));
  const content = useFocusOnChange(at);
  return (
    <>
      <PageHeader title="New scan" crumbs={crumbs} actions={<Steps at={at} />} />
      <div ref={content} tabIndex={-1} role="group" aria-label={steps[at]?.label} className="outline-none">
        {isFilling ? <LoadingRows rows={6} /> : <Outlet />}
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
