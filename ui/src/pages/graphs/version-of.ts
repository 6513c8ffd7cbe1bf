/**
 * The version of a text as the server computes it, for If-Match. `*` (any version) where the browser does not compute:
 * on pages without HTTPS.
 */
export async function versionOf(text: string): Promise<string> {
  if (crypto.subtle === undefined) return '*';
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return [...digest.subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
