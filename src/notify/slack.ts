import type { Config } from '../config/schema.ts';
import { fitting, shortened } from './fitting.ts';
import { postJson } from './http-post.ts';
import { facts, headline, type Notice, pageLink } from './message.ts';

type SlackSettings = Config['notifications']['slack'];

/** Slack rejects longer header blocks, and sections with more than ten fields. */
const headerLength = 150;
const fieldsPerSection = 10;
/** Slack accepts 2000 characters, escapes included. */
const fieldLength = 1500;
/** Slack's limit for channel names. */
const channelLength = 80;

/** The missing setting, or null. */
export function slackMissing({ webhook_url }: SlackSettings): string | null {
  return webhook_url ? null : 'notifications.slack.webhook_url is not set';
}

/** @param name of the channel; `default` means `notifications.slack.channel`, else that of the webhook */
export async function sendSlack(
  { webhook_url, channel }: SlackSettings,
  name: string,
  notice: Notice,
  signal: AbortSignal,
): Promise<void> {
  const receiver = name === 'default' ? channel : name;
  await postJson(webhook_url ?? '', await slackBody(receiver, notice), {}, signal);
}

/** Plain text except for the link to the page: user-supplied text must not become formatting, a link or a mention. */
export async function slackBody(receiver: string | null, notice: Notice): Promise<string> {
  const link = pageLink(notice);
  return await fitting((shown) => {
    const fields = facts(notice, shown).map(([name, value]) =>
      plainText(shortened(`${name}: ${value}`, fieldLength)),
    );
    return JSON.stringify({
      ...(receiver && { channel: channelName(receiver) }),
      text: harmless(headline(notice)),
      mrkdwn: false,
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
      blocks: [
        { type: 'header', text: plainText(shortened(headline(notice), headerLength)) },
        ...chunks(fields).map((part) => ({ type: 'section', fields: part })),
        ...(link === null ? [] : [{ type: 'section', text: linkText(link) }]),
      ],
    });
  });
}

function channelName(receiver: string): string {
  return `#${harmless(shortened(receiver.replace(/^#/, ''), channelLength))}`;
}

/** The URL comes from the settings and the text from this program: neither contains Slack markup. */
function linkText({ url, text }: { url: string; text: string }): object {
  return { type: 'mrkdwn', text: `<${url}|${text}>`, verbatim: true };
}

function plainText(text: string): object {
  return { type: 'plain_text', text: harmless(text), emoji: false };
}

/**
 * Escapes the three characters of Slack's markup, and adds a zero-width space after every @, so that no client shows
 * a mention.
 */
function harmless(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('@', '@\u200B');
}

function chunks<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / fieldsPerSection);
  return Array.from({ length: count }, (_, i) =>
    items.slice(i * fieldsPerSection, (i + 1) * fieldsPerSection),
  );
}
