/** An HTTP/2 response with its headers in the order received. */
interface ResponseParts {
  status: number;
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer;
}

/**
 * An HTTP/2 response in HTTP/1 form, so that one parser reads both. The status line is `HTTP/2 200`; headers that
 * describe body framing are omitted because the body is not framed.
 */
export function http2Text({ status, headers, body }: ResponseParts): Buffer {
  const lines = headers
    .filter(([name]) => !/^(?:transfer-encoding|content-length)$/i.test(name))
    .map(([name, value]) => `${oneLine(name)}: ${oneLine(value)}\r\n`);
  return Buffer.concat([Buffer.from(`HTTP/2 ${status}\r\n${lines.join('')}\r\n`, 'latin1'), body]);
}

/** Removes line breaks: HTTP libraries never pass them, so they are hostile. */
function oneLine(text: string): string {
  return text.replace(/[\r\n\0]/g, ' ');
}

/** True for the error of a handshake that failed with the no_application_protocol alert (RFC 7301, 3.2). */
export function wantsHttp2(reason: string): boolean {
  return /no application protocol/.test(reason);
}

/** A SETTINGS frame, which an HTTP/2 server sends first (RFC 9113, 3.4), or GOAWAY after an unexpected request. */
export function startsHttp2(bytes: Buffer): boolean {
  return /^\0[^]{2}(?:\x04\0|\x07\0)\0{4}/.test(bytes.toString('latin1', 0, 9));
}
