/** An answer of HTTP/2, its headers in the order in which they came. */
interface AnswerParts {
  status: number;
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer;
}

/**
 * An answer of HTTP/2 in the form of HTTP/1, so that whatever reads one reads the other. Its first line is
 * `HTTP/2 200`; what says how the body is framed is left out, as the body is not.
 */
export function http2Text({ status, headers, body }: AnswerParts): Buffer {
  const lines = headers
    .filter(([name]) => !/^(?:transfer-encoding|content-length)$/i.test(name))
    .map(([name, value]) => `${oneLine(name)}: ${oneLine(value)}\r\n`);
  return Buffer.concat([Buffer.from(`HTTP/2 ${status}\r\n${lines.join('')}\r\n`, 'latin1'), body]);
}

/** What would begin another line is hostile: no library lets it pass. */
function oneLine(text: string): string {
  return text.replace(/[\r\n\0]/g, ' ');
}

/** The alert of a server that does not know the protocols offered (RFC 7301, 3.2), as a failed handshake gives it. */
export function wantsHttp2(reason: string): boolean {
  return /no application protocol/.test(reason);
}

/** A SETTINGS frame, which a server of HTTP/2 sends first (RFC 9113, 3.4), or the GOAWAY of one that was misled. */
export function startsHttp2(bytes: Buffer): boolean {
  return /^\0[^]{2}(?:\x04\0|\x07\0)\0{4}/.test(bytes.toString('latin1', 0, 9));
}
