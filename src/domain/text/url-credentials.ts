/** A URL, and the header that says its credentials: `fetch` rejects URLs with credentials. */
export function withoutCredentials(url: string): { target: URL; authorization: string | null } {
  const target = new URL(url);
  const { username, password } = target;
  if (username === '' && password === '') return { target, authorization: null };
  target.username = '';
  target.password = '';
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { target, authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}
