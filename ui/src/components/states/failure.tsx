import type { ReactNode } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { Button } from '../controls/button.tsx';
import { CopyButton } from '../text/copy-button.tsx';
import { Mono } from '../text/mono.tsx';

import { Blank } from './blank.tsx';

export interface FailureProps {
  error: ApiError;
  retry?: () => void;
  /** What could not be loaded: "The hosts". Default "This". */
  what?: string;
  /** What stays as it was: "Your filter is kept." */
  stays?: string;
}

/** What failed, the server's words and code, and the id to find the request in the server's log. */
export function Failure({ error, retry, what = 'This', stays }: FailureProps): ReactNode {
  return (
    <Blank
      alert
      icon={error.code === 'unreachable' ? 'offline' : 'warning'}
      title={`${what} could not be loaded`}
      actions={
        <>
          {retry === undefined ? null : (
            <Button icon="retry" onClick={retry}>
              Try again
            </Button>
          )}
          {error.requestId === null ? null : (
            <span className="inline-flex items-center gap-0.5 text-size-12 text-text-2">
              <CopyButton text={error.requestId} label="Copy request id" />
              <Mono>{error.requestId}</Mono>
            </span>
          )}
        </>
      }
    >
      {error.message}{' '}
      {error.status === 0 ? null : `The server responded with ${error.status}, ${error.code}.`} {stays}
    </Blank>
  );
}
