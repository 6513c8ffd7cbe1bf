import type { Config } from '../config/schema.ts';
import { postJson } from './http-post.ts';
import { facts, fitting, headline, type ScanReport, shortened } from './message.ts';

type SlackSettings = Config['notifications']['slack'];

/** Slack refuses a longer text of a header block, and more than ten fields in a section. */
const headerLength = 150;
const fieldsPerSection = 10;
/** Slack takes 2000 characters, escapes among them. */
const fieldLength = 1500;
/** Slack's own limit of a channel name. */
const channelLength = 80;

/** Why nothing can be sent; null when it can. */
export function slackMissing({ webhook_url }: SlackSettings): string | null {
  return webhook_url ? null : 'notifications.slack.webhook_url is not set';
}

/** @param name of the channel; `default` is `notifications.slack.channel`, else the webhook's own */
export async function sendSlack(
  { webhook_url, channel }: SlackSettings,
  name: string,
  news: ScanReport,
  signal: AbortSignal,
): Promise<void> {
  const receiver = name === 'default' ? channel : name;
  await postJson(webhook_url ?? '', await slackBody(receiver, news), {}, signal);
}

/** Plain text but for the link to the scan: nothing that people chose is formatting, a link or a mention. */
export async function slackBody(receiver: string | null, news: ScanReport): Promise<string> {
  return await fitting((shown) => {
    const fields = facts(news, shown).map(([name, value]) =>
      plainText(shortened(`${name}: ${value}`, fieldLength)),
    );
    return JSON.stringify({
      ...(receiver && { channel: channelName(receiver) }),
      text: harmless(headline(news)),
      mrkdwn: false,
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
      blocks: [
        { type: 'header', text: plainText(shortened(headline(news), headerLength)) },
        ...chunks(fields).map((part) => ({ type: 'section', fields: part })),
        ...(news.url === null ? [] : [{ type: 'section', text: linkText(news.url, news.scan_id) }]),
      ],
    });
  });
}

function channelName(receiver: string): string {
  return `#${harmless(shortened(receiver.replace(/^#/, ''), channelLength))}`;
}

/** @param url of the settings, which hold no character of Slack's markup */
function linkText(url: string, scanId: string): object {
  return { type: 'mrkdwn', text: `<${url}|Scan ${scanId}>`, verbatim: true };
}

function plainText(text: string): object {
  return { type: 'plain_text', text: harmless(text), emoji: false };
}

/**
 * The three characters that Slack's markup is made of, escaped as it demands, and every @ followed by a character
 * without width, so that no client takes it for a mention.
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
