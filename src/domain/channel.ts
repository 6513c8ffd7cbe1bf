/** Kinds of notification channels. */
export const channelTypes = ['slack', 'email', 'webhook'] as const;
export type ChannelType = (typeof channelTypes)[number];

/** One channel as written: `slack://security`. `name` is not decoded. */
export interface NotificationChannel {
  type: ChannelType;
  name: string;
}

/** A mail address has at most 254 characters (RFC 5321), names of other channels are shorter. */
export const maxChannelLength = 320;

const form = /^([a-z][a-z0-9+.-]*):\/\/(\P{Cc}+)$/u;

/** Why a text is not a channel, as a predicate; null if it is one. */
export function channelProblem(text: string): string | null {
  if (text.length > maxChannelLength) return `has more than ${maxChannelLength} characters`;
  const type = form.exec(text)?.[1];
  if (type === undefined) return 'is not of the form <channel_type>://<channel_name>';
  return isChannelType(type) ? null : `has an unknown channel type; known: ${channelTypes.join(', ')}`;
}

/** Null for every text with a `channelProblem`. */
export function parseChannel(text: string): NotificationChannel | null {
  if (channelProblem(text) !== null) return null;
  const [, type = '', name = ''] = form.exec(text) ?? [];
  return isChannelType(type) ? { type, name } : null;
}

/** The receiver of a channel: one Slack webhook, one mail server, each webhook separately. */
export function receiverOf(channel: string): string {
  const type = parseChannel(channel)?.type ?? 'unknown';
  return type === 'webhook' ? channel : `${type}://`;
}

function isChannelType(type: string): type is ChannelType {
  return (channelTypes as readonly string[]).includes(type);
}
