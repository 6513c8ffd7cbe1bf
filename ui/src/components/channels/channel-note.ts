import type { Data } from '../../api/api-types.ts';

export type Channel = Data<'/api/v1/notifications/channels'>['channels'][number];

/** Where a channel leads, and what sends to it without being asked. */
export function channelNote({ leads_to: to, default: isDefault, by_rule: byRule }: Channel): string {
  return [
    to === null ? '' : `to ${to}`,
    isDefault ? 'default of scans' : '',
    byRule ? 'notified by a rule' : '',
  ]
    .filter(Boolean)
    .join(', ');
}
