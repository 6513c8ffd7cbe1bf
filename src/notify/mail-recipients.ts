import type { Config } from '../config/schema.ts';

/** One plain address: no list, no comment, no quoting. */
const plainAddress = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*$/;

/** Recipients of a channel: one address, or the configured ones; or why nothing is sent. */
export function mailRecipients(
  { smtp_server, from, to }: Config['notifications']['email'],
  name: string,
): { recipients: string[] } | { missing: string } {
  if (!smtp_server) return { missing: 'notifications.email.smtp_server is not set' };
  if (!from) return { missing: 'notifications.email.from is not set' };
  if (name !== 'default') {
    return plainAddress.test(name) ? { recipients: [name] } : { missing: 'not a mail address' };
  }
  return to.length > 0 ? { recipients: [...to] } : { missing: 'notifications.email.to is empty' };
}
