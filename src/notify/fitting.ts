import { visibleText } from '../domain/text/visible.ts';

/** Maximum size of a message, bytes: the JSON of Slack and webhooks, the whole mail with its headers. */
export const maxMessageBytes = 8 * 1024;

/** List lengths to try, from many to none; the first one that fits is used. */
const amounts = [20, 10, 5, 2, 1, 0] as const;

/**
 * Shortens the lists until the message fits. @param render renders the message with at most this many entries per
 * list
 */
export async function fitting<Message extends string | Buffer>(
  render: (shown: number) => Message | Promise<Message>,
): Promise<Message> {
  const [most, ...fewer] = amounts;
  let message = await render(most);
  for (const shown of fewer) {
    if (Buffer.byteLength(message) <= maxMessageBytes) break;
    message = await render(shown);
  }
  return message;
}

/** One line without control characters, truncated to `length` characters. */
export function shortened(text: string, length: number): string {
  // Truncates first: avoids processing a megabyte for one line.
  const line = visibleText(text.slice(0, length * 2));
  const characters = [...line];
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : line;
}
