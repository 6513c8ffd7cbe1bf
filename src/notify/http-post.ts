import { withoutCredentials } from '../domain/text/url-credentials.ts';
import { DeliveryFault, faultOf } from './delivery-fault.ts';

/**
 * Sends JSON to exactly this URL: a redirect is a failure. The response body is not read.
 *
 * @throws DeliveryFault unless the response is 2xx
 */
export async function postJson(
  url: string,
  body: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { target, authorization } = withoutCredentials(url);
    const sent = new Headers(authorization === null ? headers : { authorization, ...headers });
    sent.set('content-type', 'application/json');
    const response = await fetch(target, { method: 'POST', body, headers: sent, redirect: 'manual', signal });
    // Waiting for its end would let the receiver keep the connection open.
    void response.body?.cancel().catch(() => undefined);
    if (response.ok) return;
    const redirect = response.status >= 300 && response.status < 400;
    throw new DeliveryFault(
      redirect ? `HTTP ${response.status}: redirects are not followed` : `HTTP ${response.status}`,
    );
  } catch (error) {
    throw faultOf(error);
  }
}
