import { useLocation } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { type Crumb, usePageTitle } from '../../url/page-title.ts';

export type { Crumb };

export interface PageHeaderProps {
  /** The only `h1` of the page. A text names the window too; for other nodes the page calls `usePageTitle` itself. */
  title: ReactNode;
  /** The open tab, in front of the title in the name of the window: `Hosts · Berlin office · Portolan`. */
  part?: string;
  /** Pages above this one, outermost first. They stand in the top bar. */
  crumbs?: readonly Crumb[];
  /** Buttons at the right; below the title on phones. */
  actions?: ReactNode;
  /** Beside the title, for example a StateMark. */
  mark?: ReactNode;
  /** One line under the title: the sentence or number the reader came for. Several parts get a dot between them. */
  meta?: ReactNode | ReactNode[];
}

/** Title, what it is about, and what can be done with it. */
export function PageHeader({ title, part, crumbs = [], actions, mark, meta }: PageHeaderProps): ReactNode {
  return (
    <header className="mb-4 flex flex-col gap-3 tablet:flex-row tablet:items-start">
      {typeof title === 'string' ? <WindowTitle title={title} part={part} crumbs={crumbs} /> : null}
      <div className="min-w-0 flex-1">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="min-w-0 [overflow-wrap:anywhere]">{title}</h1>
          {mark}
        </div>
        <Meta meta={meta} />
      </div>
      {actions === undefined ? null : (
        <div className="no-print flex flex-none flex-wrap items-center gap-2 max-tablet:gap-1.5 tablet:justify-end max-tablet:[&>:not(:last-child)]:px-2">
          {actions}
        </div>
      )}
    </header>
  );
}

interface WindowTitleProps {
  title: string;
  part: string | undefined;
  crumbs: readonly Crumb[];
}

function WindowTitle({ title, part, crumbs }: WindowTitleProps): null {
  const { pathname } = useLocation();
  usePageTitle(part ?? title, part === undefined ? crumbs : [...crumbs, { label: title, to: pathname }]);
  return null;
}

function Meta({ meta }: { meta: PageHeaderProps['meta'] }): ReactNode {
  const parts = (Array.isArray(meta) ? meta : [meta]).filter(
    (part) => part !== undefined && part !== null && part !== false && part !== '',
  );
  return parts.length === 0 ? null : (
    <p className="mt-1 text-size-12 text-text-2">
      {parts.map((part, index) => (
        <Fragment key={index}>
          {index === 0 ? null : (
            <span aria-hidden className="text-text-3">
              {' · '}
            </span>
          )}
          {part}
        </Fragment>
      ))}
    </p>
  );
}
