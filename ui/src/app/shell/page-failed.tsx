import { Button } from '../../components/controls/button.tsx';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { usePageTitle } from '../../url/page-title.ts';

/** A page that could not be drawn, or whose code could not be loaded. */
export function PageFailed({ error, reset }: { error: unknown; reset?: () => void }) {
  usePageTitle('This page failed');
  const isOld = String(error).includes('dynamically imported module');
  return (
    <div className="flex max-w-[680px] flex-col items-start gap-4" role="alert">
      <h1>{isOld ? 'The server has a newer version of this page' : 'This page failed'}</h1>
      <p className="text-text-2">
        {isOld ? 'Load it again to get the new one.' : 'Nothing on the server has changed.'}
      </p>
      {!isOld && <pre className="mono max-w-full overflow-x-auto text-text-3">{String(error)}</pre>}
      <Button icon="retry" onClick={() => (isOld ? location.reload() : reset?.())}>
        {isOld ? 'Load again' : 'Try again'}
      </Button>
    </div>
  );
}

export function NotFound() {
  usePageTitle('Page not found');
  return (
    <div className="flex flex-col items-start gap-4">
      <h1>Page not found</h1>
      <p className="text-text-2">The address has no page. It may be of another version.</p>
      <LinkButton to="/">Dashboard</LinkButton>
    </div>
  );
}
