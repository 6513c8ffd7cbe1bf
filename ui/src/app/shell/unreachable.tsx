import type { ApiError } from '../../api/api-error.ts';
import { Button } from '../../components/controls/button.tsx';
import { Icon } from '../../components/icons/icon.tsx';

/** In place of the frame while the server does not respond. */
export function Unreachable({ failure, onRetry }: { failure: ApiError; onRetry: () => void }) {
  return (
    <main className="mx-auto flex min-h-full max-w-[480px] flex-col items-start justify-center gap-4 px-4">
      <Icon name="offline" />
      <h1>{failure.status === 0 ? 'The server cannot be reached' : 'The server cannot respond now'}</h1>
      <p className="text-text-2">
        {failure.message} {failure.status === 0 && 'Check that it runs: portolan server status'}
      </p>
      {failure.requestId !== null && (
        <p className="mono text-text-3">
          {failure.code} · request {failure.requestId}
        </p>
      )}
      <Button icon="retry" onClick={onRetry}>
        Try again
      </Button>
    </main>
  );
}
