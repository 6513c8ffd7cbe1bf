/** One event of a server-sent event stream (WHATWG HTML, section 9.2). */
export interface ServerEvent {
  id: string | null;
  event: string;
  data: string;
}

/** Maximum length of a line, characters. */
const maxLine = 16 * 1024 * 1024;

/** Splits the text of an event stream into events; comments (heartbeats) are skipped. */
export async function* readEvents(chunks: AsyncIterable<string>): AsyncIterable<ServerEvent> {
  let pending: ServerEvent = { id: null, event: 'message', data: '' };
  for await (const line of readLines(chunks)) {
    if (line === '') {
      if (pending.data !== '') yield { ...pending, data: pending.data.slice(0, -1) };
      pending = { id: null, event: 'message', data: '' };
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'id') pending.id = value;
    if (field === 'event') pending.event = value;
    if (field === 'data') pending.data += `${value}\n`;
  }
}

/** Lines without their terminators (LF or CRLF), including an unterminated last line. */
export async function* readLines(chunks: AsyncIterable<string>): AsyncIterable<string> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
    if (rest.length > maxLine) throw new Error('the server sent a line longer than 16 MiB');
  }
  if (rest !== '') yield rest;
}
