/** One event of a server-sent event stream. */
export interface StreamEvent {
  event: string;
  /** Null for events without one. */
  id: string | null;
  data: string;
}

/** An event longer than this is not the server's, characters. */
const maxEventLength = 4 * 1024 * 1024;

/**
 * Cuts the text of an event stream (WHATWG HTML, 9.2.6) into events; a part may end anywhere.
 * @throws Error for an event that is too long
 */
export class EventText {
  #rest = '';

  /** @returns the events that are complete with this part */
  add(part: string): StreamEvent[] {
    this.#rest += part;
    if (this.#rest.length > maxEventLength) throw new Error('event too long');
    const blocks = this.#rest.split(/\r?\n\r?\n/);
    this.#rest = blocks.pop() ?? '';
    return blocks.map(eventOf).filter((event) => event !== null);
  }
}

/** Null for a comment. */
function eventOf(block: string): StreamEvent | null {
  const event: StreamEvent = { event: 'message', id: null, data: '' };
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name === 'event') event.event = value ?? '';
    if (name === 'id') event.id = value ?? '';
    if (name === 'data') data.push(value ?? '');
  }
  if (data.length === 0) return null;
  return { ...event, data: data.join('\n') };
}
