import { PortolanError } from '../../domain/errors.ts';

/** One event of a server-sent event stream (WHATWG HTML, section 9.2). */
export interface ServerEvent {
  id: string | null;
  event: string;
  data: string;
}

/** Maximum length of a line and of the data lines of an event, characters: rows have at most some MiB. */
const maxLength = 16 * 1024 * 1024;

/**
 * Splits the text of an event stream into events; comments (heartbeats) are skipped.
 * @throws PortolanError `network` for an event or a line that is too long
 */
export async function* readEvents(chunks: AsyncIterable<string>): AsyncIterable<ServerEvent> {
  let event: Omit<ServerEvent, 'data'> = { id: null, event: 'message' };
  let data: string[] = [];
  let length = 0;
  for await (const line of readLines(chunks)) {
    if (line === '') {
      if (data.length > 0) yield { ...event, data: data.join('\n') };
      event = { id: null, event: 'message' };
      data = [];
      length = 0;
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'id') event.id = value;
    if (field === 'event') event.event = value;
    if (field !== 'data') continue;
    // An empty line of data takes memory, too.
    length += line.length + 1;
    if (length > maxLength) throw tooLong('an event');
    data.push(value);
  }
}

/**
 * Lines without their terminators (LF or CRLF), including an unterminated last line.
 * @throws PortolanError `network` for a line that is too long
 */
export async function* readLines(chunks: AsyncIterable<string>): AsyncIterable<string> {
  /** The parts of a line so far: joined once, however many chunks it has. */
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const [first = '', ...others] = chunk.split('\n');
    const last = others.pop();
    length += first.length;
    if (length > maxLength) throw tooLong('a line');
    if (first !== '') parts.push(first);
    if (last === undefined) continue;
    yield withoutReturn(parts.join(''));
    for (const line of others) yield withoutReturn(line);
    parts = last === '' ? [] : [last];
    length = last.length;
  }
  if (parts.length > 0) yield parts.join('');
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

function tooLong(what: string): PortolanError {
  const mebibytes = maxLength / 1024 ** 2;
  return new PortolanError('network', `the server sent ${what} longer than ${mebibytes} MiB`, {
    unexpected: true,
  });
}
