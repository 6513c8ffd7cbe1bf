import type { ReactNode } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { Button } from '../controls/button.tsx';
import { LinkButton } from '../controls/link-button.tsx';
import { Note } from '../layout/note.tsx';
import { BeingIndexed } from './being-indexed.tsx';
import { Blank } from './blank.tsx';
import { Failure } from './failure.tsx';
import { LoadingRows, type LoadingRowsProps } from './loading-rows.tsx';
import { NoLicense } from './no-license.tsx';
import { NoPermission } from './no-permission.tsx';

/** What `useGet` returns. */
export interface BoundaryGot<T> {
  data: T | undefined;
  error: ApiError | null;
  isPending: boolean;
  indexShare?: number | null;
  refetch?: () => void;
}

export interface ListLink {
  to: string;
  /** "All scans". */
  label: string;
}

export interface BoundaryProps<T> {
  got: BoundaryGot<T>;
  /** What is loaded: "The hosts". */
  what?: string;
  /** What needs the scope: "read the audit log". */
  doing?: string;
  /** Where to go when it does not exist. */
  list?: ListLink;
  /** Placeholder rows while nothing is there yet. */
  rows?: number;
  rowHeight?: LoadingRowsProps['height'];
  /** In place of placeholder rows. */
  pending?: ReactNode;
  children: (data: T) => ReactNode;
}

/** Loading, error, no permission, no license, or the data. Data that is there stays when loading it again fails. */
export function Boundary<T>(props: BoundaryProps<T>): ReactNode {
  const { got, what, doing, list, rows, rowHeight, pending, children } = props;
  const { data, error, refetch } = got;
  if (data !== undefined) {
    return (
      <>
        {error === null || error.code === 'unreachable' ? null : (
          <Outdated error={error} what={what} retry={refetch} />
        )}
        {children(data)}
      </>
    );
  }
  if (error === null) {
    if (typeof got.indexShare === 'number') return <BeingIndexed share={got.indexShare} />;
    return pending ?? <LoadingRows rows={rows} height={rowHeight} />;
  }
  return <ErrorState error={error} what={what} doing={doing} list={list} retry={refetch} />;
}

interface ErrorStateProps {
  error: ApiError;
  what?: string;
  doing?: string;
  list?: ListLink;
  retry?: () => void;
}

/** The state that fits an error: no permission, no license, gone, or a failure. */
export function ErrorState({ error, what, doing, list, retry }: ErrorStateProps): ReactNode {
  if (error.code === 'insufficient_scope') {
    return (
      <NoPermission
        scope={textsOf(error.details['required_scopes'] ?? error.details['scopes'])}
        what={doing}
      />
    );
  }
  if (error.code === 'license_required') {
    return <NoLicense feature={textsOf(error.details['feature'])[0] ?? 'this feature'} />;
  }
  if (error.code === 'tenant_forbidden') {
    return (
      <Blank icon="lock" title="This token is of one tenant">
        {error.message}
      </Blank>
    );
  }
  if (error.code === 'not_found' && list) {
    return (
      <Blank
        alert
        icon="search"
        title={`${what ?? 'This'} does not exist`}
        actions={<LinkButton to={list.to}>{list.label}</LinkButton>}
      >
        {error.message} It may have been deleted.
      </Blank>
    );
  }
  return <Failure error={error} what={what} retry={retry} />;
}

function Outdated({ error, what = 'This', retry }: ErrorStateProps): ReactNode {
  return (
    <div className="mb-3">
      <Note
        tone="warning"
        title={`${what} could not be loaded again. You see the former state.`}
        actions={
          retry === undefined ? undefined : (
            <Button size="small" icon="retry" onClick={retry}>
              Try again
            </Button>
          )
        }
      >
        {error.message}
      </Note>
    </div>
  );
}

function textsOf(value: unknown): string[] {
  const values = Array.isArray(value) ? value : [value];
  return values.filter((each): each is string => typeof each === 'string');
}
