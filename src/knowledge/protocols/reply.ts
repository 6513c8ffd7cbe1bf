/** Maximum number of lines of one reply: bounds an endless `220-` reply. */
export const replyLineLimit = 100;
/** Maximum number of replies read from one session. */
export const replyLimit = 20;
/** Maximum length of one line, characters. */
export const lineLengthLimit = 512;

/** One numbered reply of SMTP (RFC 5321, 4.2) or FTP (RFC 959, 4.2). */
export interface Reply {
  code: number;
  /** Text of each line without the code. */
  lines: string[];
  /** The final line (`220 text`) is present and no limit truncated the reply. */
  complete: boolean;
}

/**
 * Reads numbered replies, single- and multi-line. Stops at the first line that is not part of a reply;
 * input that does not start with a reply yields none.
 */
export function parseReplies(bytes: Buffer): Reply[] {
  const replies: Reply[] = [];
  let open: Reply | null = null;
  let position = 0;
  while (position < bytes.length && (open !== null || replies.length < replyLimit)) {
    const end = bytes.indexOf(0x0a, position);
    const stop = end === -1 ? bytes.length : end;
    const line = lineText(bytes, position, stop);
    position = stop + 1;

    const code = /^[1-5]\d\d/.exec(line)?.[0];
    const mark = line[3] ?? ' ';
    const numbered = code !== undefined && (mark === ' ' || mark === '-');
    if (open === null) {
      if (!numbered) break;
      open = { code: Number(code), lines: [], complete: false };
      replies.push(open);
    }
    const own: boolean = numbered && Number(code) === open.code;
    if (open.lines.length < replyLineLimit) open.lines.push(own ? line.slice(4) : line.trim());
    if (own && mark === ' ') {
      open.complete = open.lines.length < replyLineLimit && end !== -1;
      open = null;
    }
  }
  return replies;
}

function lineText(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('latin1', start, Math.min(end, start + lineLengthLimit));
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

/**
 * The text of a reply without enhanced status codes (RFC 3463), which look like versions: `5.5.0` of a reply with the
 * code 5xx, `2.1.0` only at the start of a line of one that accepts.
 */
export function withoutStatusCodes(code: number, text: string): string {
  const first = Math.floor(code / 100);
  if (first !== 4 && first !== 5) return text.replace(/^2\.\d\.\d{1,3} /gm, '');
  return text.replace(/(?<![\d.])([45])\.\d\.\d{1,3}(?!\.?\d)[ :]?/g, (found, digit) =>
    Number(digit) === first ? '' : found,
  );
}
