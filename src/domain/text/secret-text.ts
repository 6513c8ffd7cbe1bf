/**
 * API tokens, complete or truncated, anywhere in a text. Shorter tails are left alone: `svc_backup_hosts` may be an
 * ordinary name.
 */
const tokenText = /svc_([a-z0-9]{4,16})_[\w-]{16,}/g;

/** How often a text is decoded in search of tokens; nobody encodes more often by accident. */
const decodings = 3;

/** The text without the secret part of API tokens; the ID stays, so that the token can be revoked. */
export function withoutTokens(text: string): string {
  return text.includes('svc_') ? text.replace(tokenText, 'svc_$1_[redacted]') : text;
}

/** The same for the path of a URL, where a token may be percent-encoded; such a path is returned decoded. */
export function pathWithoutTokens(path: string): string {
  let text = path;
  for (let round = 0; round < decodings && text.includes('%'); round++) {
    text = decoded(text);
    const clean = withoutTokens(text);
    if (clean !== text) return clean;
  }
  return withoutTokens(path);
}

function decoded(text: string): string {
  return text.replace(/%[0-7][0-9a-f]/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
}
