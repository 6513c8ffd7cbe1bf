import { pathWithoutTokens } from '../../domain/text/secret-text.ts';
import {
  actorOf,
  maxAgentLength,
  maxPathLength,
  rejectionFacts,
  submissionFacts,
  unprovenClaim,
} from '../access/access-facts.ts';
import { claimOf } from '../access/auth.ts';
import type { ServerContext } from '../context.ts';
import type { Call } from './call.ts';

/** Writes the audit record of a call; open methods have none. */
export async function recordCall(
  { audit, config }: Pick<ServerContext, 'audit' | 'config'>,
  call: Call,
): Promise<void> {
  const { head, refusal, rule, space } = call;
  if (!config.logging.audit.enabled || rule?.access === 'open') return;
  const status = refusal?.status ?? 200;
  await audit.record({
    event: 'api_access',
    outcome: status < 400 ? 'allowed' : status < 500 ? 'denied' : 'error',
    actor: actorOf(head),
    tenant: space?.tenant ?? claimOf(head)?.record.tenant ?? null,
    request: {
      id: call.id,
      method: 'POST',
      path: pathWithoutTokens(call.path).slice(0, maxPathLength),
      status,
      ip: call.client,
      user_agent: head.headers['user-agent']?.slice(0, maxAgentLength) ?? null,
      duration_ms: Math.round(performance.now() - call.startedAt),
    },
    resource: call.resource,
    details: {
      ...submissionFacts(call.body, config, refusal),
      ...(refusal && rejectionFacts(refusal)),
      ...unprovenClaim(head),
    },
  });
}
