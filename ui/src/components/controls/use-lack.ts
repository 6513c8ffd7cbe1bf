import { useIsOffline } from '../../live/live.ts';
import { useCan } from '../../session/session.ts';

/**
 * Why an action cannot be done now, for `disabledReason`: no connection to the server, or a missing scope.
 * @param scopes any one of them is enough
 */
export function useLack(...scopes: string[]): string | null {
  const isOffline = useIsOffline();
  const may = useCan(...scopes);
  if (!may) return `Needs the scope ${scopes.join(' or ')}`;
  // Where something between here and the server lets no stream through, requests may work all the same.
  return isOffline ? 'No connection to the server' : null;
}
