import type { PortObservation } from './gate/gate.ts';

/** Port state by the errno of connect(). Only a refusal means closed. */
const meanings: Record<string, { state: PortObservation['state']; reason: string }> = {
  ECONNREFUSED: { state: 'closed', reason: 'rst' },
  // The service accepted and reset at once.
  ECONNRESET: { state: 'open', reason: 'accept-then-reset' },
  EPIPE: { state: 'open', reason: 'accept-then-reset' },
  ETIMEDOUT: { state: 'filtered', reason: 'no-response' },
  EHOSTUNREACH: { state: 'filtered', reason: 'host-unreachable' },
  EHOSTDOWN: { state: 'filtered', reason: 'host-unreachable' },
  ENETUNREACH: { state: 'filtered', reason: 'net-unreachable' },
  EACCES: { state: 'filtered', reason: 'admin-prohibited' },
  ENOPROTOOPT: { state: 'filtered', reason: 'proto-unreachable' },
  EPROTO: { state: 'filtered', reason: 'proto-unreachable' },
};

/** Temporary shortages of this machine: worth a retry. */
const shortages = new Set(['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS', 'ENOMEM', 'EAGAIN']);

export function isShortage(code: string): boolean {
  return shortages.has(code);
}

export function errorCode(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'UNKNOWN';
}

/** State of a port after connect() failed with this errno name; unknown ones count as not tried. */
export function observeFailure(code: string, latencyMs: number): PortObservation {
  const meaning = meanings[code];
  if (meaning) return { ...meaning, latencyMs };
  return { state: 'not_tried', reason: localTrouble(code), latencyMs };
}

/** What kept a packet from leaving this machine. */
export function localTrouble(code: string): string {
  return `local error ${code}`;
}

export function notTried(reason: string): PortObservation {
  return { state: 'not_tried', reason, latencyMs: 0 };
}
