import type { Config } from '../../config/schema.ts';
import type { PortolanError } from '../../domain/errors.ts';
import { type AddressSet, unicastAddresses } from '../../domain/targets/address-set.ts';
import { compileScope } from '../../domain/targets/scope.ts';
import { countItems, parseTargets } from '../../domain/targets/target.ts';
import type { AuditActor } from '../../workspace/audit/audit-record.ts';
import { claimOf, type RequestHead } from './auth.ts';

/** Maximum number of invalid fields in an audit record. */
const maxFields = 10;
/** Maximum number of targets whose addresses are counted for the record. */
const maxCounted = 10_000;
/** Maximum length of a path in an audit record, characters. */
export const maxPathLength = 512;
/** Maximum length of a user agent in an audit record, characters. */
export const maxAgentLength = 256;

export const nobody: AuditActor = { type: 'anonymous', id: null, name: null };

/** A token is the actor if its secret was correct, even if it is expired or revoked. */
export function actorOf(head: RequestHead): AuditActor {
  const claim = claimOf(head);
  if (!claim?.proven) return nobody;
  return { type: 'token', id: claim.record.id, name: claim.record.name };
}

/** Id of a token that was used with a wrong secret. */
export function unprovenClaim(head: RequestHead): Record<string, unknown> {
  const claim = claimOf(head);
  return claim && !claim.proven ? { claimed_token_id: claim.record.id } : {};
}

/** Why a request was rejected, without secrets. */
export function rejectionFacts({ code, details }: PortolanError): Record<string, unknown> {
  const { required_scopes: scopes, fields, feature } = details;
  const named = Array.isArray(fields)
    ? fields.flatMap((problem) => fieldOf(problem)).slice(0, maxFields)
    : [];
  return {
    error: code,
    ...(scopes !== undefined && { required_scopes: scopes }),
    ...(feature !== undefined && { feature }),
    ...(named.length > 0 && { fields: named }),
  };
}

function fieldOf(problem: unknown): string[] {
  const { field } = (problem ?? {}) as { field?: unknown };
  return typeof field === 'string' ? [field.slice(0, 100)] : [];
}

/** Facts about a scan request: number of targets and addresses, and the rule that allowed or rejected it. */
export function submissionFacts(
  body: unknown,
  config: Config,
  refusal: PortolanError | null,
): Record<string, unknown> {
  const { targets, exclude } = submissionIn(body);
  if (!isTextList(targets)) return {};
  if (countItems(targets) > maxCounted) return { targets: targets.length };
  const wanted = parseTargets(targets);
  const unwanted =
    isTextList(exclude) && countItems(exclude) <= maxCounted ? parseTargets(exclude).covered : null;
  const names = wanted.hostnames.length + wanted.namedNetworks.length;
  const addresses = unwanted ? wanted.addresses.minus(unwanted) : wanted.addresses;
  return {
    targets: targets.length,
    addresses: Number(addresses.size),
    ...(names > 0 && { hostnames: names }),
    rule: refusal && !isOutOfScope(refusal) ? refusal.code : scopeRule(addresses, config),
  };
}

/** A job has the request of its scans in `params`. */
function submissionIn(body: unknown): { targets?: unknown; exclude?: unknown } {
  const { params, ...own } = (body ?? {}) as { params?: unknown; targets?: unknown; exclude?: unknown };
  return own.targets === undefined && typeof params === 'object' ? (params ?? {}) : own;
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isOutOfScope({ details }: PortolanError): boolean {
  const { targets } = details;
  return Array.isArray(targets) && targets.some(({ reason }) => reason === 'out_of_scope');
}

/** The configuration key that decided: the one that rejected an address, else the one that allows them. */
function scopeRule(addresses: AddressSet, { scanner }: Config): string {
  const { scope, blocklist } = scanner;
  const { outside } = compileScope(scope).split(addresses);
  const unicast = outside.intersect(unicastAddresses);
  const denied = compileScope({ allow: [], deny: scope.deny }).split(unicast).outside;
  if (parseTargets(blocklist).covered.intersect(addresses).size > 0n) return 'scanner.blocklist';
  if (denied.size > 0n) return 'scope.deny';
  if (unicast.size > 0n || scope.allow.length > 0) return 'scope.allow';
  return 'unicast';
}
