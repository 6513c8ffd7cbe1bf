import { DeliveryFault, faultOf } from './delivery-fault.ts';

/**
 * Sends JSON to exactly this URL: an answer that leads elsewhere is a failure. What the answer says is not read.
 *
 * @throws DeliveryFault unless the answer is 2xx
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
    const answer = await fetch(target, { method: 'POST', body, headers: sent, redirect: 'manual', signal });
    // Waiting for its end would let the other side keep the connection open.
    void answer.body?.cancel().catch(() => undefined);
    if (answer.ok) return;
    const redirect = answer.status >= 300 && answer.status < 400;
    throw new DeliveryFault(
      redirect
        ? `the answer was a redirect (${answer.status}), which is not followed`
        : `the answer was ${answer.status}`,
    );
  } catch (error) {
    throw faultOf(error);
  }
}

/** `fetch` refuses URLs with a name and a password in them. */
function withoutCredentials(url: string): { target: URL; authorization: string | null } {
  const target = new URL(url);
  const { username, password } = target;
  if (username === '' && password === '') return { target, authorization: null };
  target.username = '';
  target.password = '';
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { target, authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}
