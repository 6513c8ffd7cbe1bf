import { useMemo } from 'react';
import { serverNow } from '../../api/server-clock.ts';
import { useSearchParam } from '../../url/use-search-param.ts';
import { startOf } from './audit-period.ts';

/** Query of GET /api/v1/audit. */
export interface AuditQuery {
  event?: string;
  outcome?: string;
  since?: string;
  actor?: string;
  resource?: string;
}

export const eventOptions = [
  { value: '', label: 'Every event' },
  {
    value: 'changes',
    label: 'Changes',
    hint: 'what changed something: scans, jobs, settings, graphs, tokens',
  },
  { value: 'api_access', label: 'api_access', hint: 'requests of the API' },
  { value: 'scan_start', label: 'scan_start' },
  { value: 'scan_complete', label: 'scan_complete' },
  { value: 'config_change', label: 'config_change', hint: 'reloads, tokens, rules, reading this log' },
  { value: 'user_login', label: 'user_login' },
] as const;

export const outcomeOptions = [
  { value: '', label: 'Every outcome' },
  { value: 'allowed', label: 'Allowed' },
  { value: 'denied', label: 'Denied' },
  { value: 'error', label: 'Error' },
] as const;

export const periodOptions = [
  { value: '', label: 'All time' },
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
] as const;

/** The filter of the URL; a period counts from when it was chosen, so that pages of the list fit together. */
export function useAuditFilter(): { query: AuditQuery; isActive: boolean } {
  const [event] = useSearchParam('event');
  const [outcome] = useSearchParam('outcome');
  const [period] = useSearchParam('since');
  const [actor] = useSearchParam('actor');
  const [resource] = useSearchParam('resource');
  return useMemo(() => {
    const all = {
      event,
      outcome,
      since: startOf(period, serverNow()),
      actor: actor.trim(),
      resource: resource.trim(),
    };
    const query = Object.fromEntries(Object.entries(all).filter(([, text]) => text !== ''));
    return { query, isActive: Object.keys(query).length > 0 };
  }, [event, outcome, period, actor, resource]);
}
