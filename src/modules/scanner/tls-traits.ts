import { type KeyObject, randomBytes } from 'node:crypto';
import type { TlsTraits } from '../../domain/text/banner.ts';
import type { HelloOffer } from '../../knowledge/tls/client-hello.ts';
import { acceptedCipherChange, earlyCipherChange } from '../../knowledge/tls/early-cipher-change.ts';
import { emptyHeartbeat, heartbeatExtension, leakedBytes } from '../../knowledge/tls/heartbeat.ts';
import { helloPrint, printOffer } from '../../knowledge/tls/hello-print.ts';
import {
  type PaddingForm,
  paddedFlight,
  paddingForms,
  reactionIn,
  rsaKeyOf,
} from '../../knowledge/tls/padding-oracle.ts';
import type { ServerFlight, ServerHello } from '../../knowledge/tls/server-flight.ts';
import { bytesBehindName, readSession, sessionNameBytes } from '../../knowledge/tls/session.ts';
import { cipherSuites } from '../../knowledge/tls/suites.ts';
import { type TlsVersion, versionCode } from '../../knowledge/tls/versions.ts';
import type { Connection, TlsExamination, TlsExaminationOptions } from '../../net/gate/gate.ts';

/** Longest wait for the reaction after a hello, milliseconds: some servers silently ignore what they do not like. */
const longestReactionMs = 2000;

/** Time for a server to close the connection after its alert, milliseconds. */
const aftermathMs = 300;

/** Maximum number of rounds over all padding forms; two in a row must agree. */
const paddingRounds = 3;

const noApplicationProtocol = 120;

/** A response of the server, as far as traits depend on it. */
export type TraitResponse =
  | { kind: 'hello'; hello: ServerHello; flight: ServerFlight }
  | { kind: 'refused'; alert: number | null }
  | { kind: 'silent' | 'foreign' | 'over' };

type Offer = Pick<HelloOffer, 'version' | 'suites'> & Partial<HelloOffer>;

/** Continues after the ServerHello. */
export type TalkOn = (flight: ServerFlight, connection: Connection) => Promise<void>;

/** Access to the server for trait tests, each time on a new connection. */
export interface TraitSource {
  ask(offer: Offer): Promise<TraitResponse>;
  /** Like `ask`, but the connection stays open for `then`. */
  askOn(offer: Offer, then: TalkOn): Promise<TraitResponse>;
  examine(options: Partial<TlsExaminationOptions>): Promise<TlsExamination | null>;
  /** Accepted suites, by version. */
  picked: ReadonlyMap<TlsVersion, readonly number[]>;
  /** The newest version whose handshake can be read to its end. */
  readable: TlsVersion | null;
  /** Idle timeout of the server. */
  timeoutMs: number;
  /** Also test for vulnerabilities. */
  intrusive: boolean;
}

/** Tests the behavior of a server by a few special handshakes; only the intrusive ones test for a vulnerability. */
export async function findTraits(source: TraitSource): Promise<TlsTraits> {
  const [hellos, examined] = await Promise.all([probePrints(source), examineSessions(source)]);
  const old = hellos.find(({ hello }) => hello.version < versionCode('TLSv1.3'))?.hello;
  const heartbeat = old ? old.extensions.has(heartbeatExtension) : null;
  return {
    hello_prints: hellos.map(({ print }) => print),
    downgrade_mark: old && source.picked.has('TLSv1.3') ? old.marked : null,
    heartbeat,
    ...examined,
    ...(await tryFlaws(source, heartbeat)),
  };
}

type FlawTraits = Pick<
  TlsTraits,
  'heartbleed_bytes' | 'early_cipher_change' | 'ticketbleed_bytes' | 'padding_reactions'
>;

/** Sequential: a server harmed by one of them must not get the others at the same time. */
async function tryFlaws(source: TraitSource, heartbeat: boolean | null): Promise<FlawTraits> {
  const { intrusive } = source;
  return {
    heartbleed_bytes: intrusive && heartbeat ? await tryHeartbeat(source) : null,
    early_cipher_change: intrusive ? await tryEarlyCipherChange(source) : null,
    ticketbleed_bytes: intrusive ? await tryTicket(source) : null,
    padding_reactions: intrusive ? await tryPaddings(source) : null,
  };
}

async function probePrints(source: TraitSource): Promise<{ hello: ServerHello; print: string }[]> {
  const { readable, picked } = source;
  const versions: TlsVersion[] = [
    ...(picked.has('TLSv1.3') ? ['TLSv1.3' as const] : []),
    ...(readable ? [readable] : []),
  ];
  const responses = await Promise.all(versions.map((version) => probePrint(source, version)));
  return responses.filter((response) => response !== null);
}

async function probePrint(
  { ask }: TraitSource,
  version: TlsVersion,
): Promise<{ hello: ServerHello; print: string } | null> {
  const offer = printOffer(version);
  const response = await ask(offer);
  if (response.kind === 'hello') return { hello: response.hello, print: helloPrint(response.hello, false) };
  if (response.kind !== 'refused' || response.alert !== noApplicationProtocol) return null;
  const second = await ask({ ...offer, alpn: [] });
  return second.kind === 'hello' ? { hello: second.hello, print: helloPrint(second.hello, true) } : null;
}

type SessionTraits = Pick<
  TlsTraits,
  'ocsp_stapling' | 'session_resumption' | 'ticket_lifetime' | 'early_data' | 'client_renegotiation'
>;

/** Complete handshakes, sequential. What the TLS library does not support stays unknown. */
async function examineSessions({ examine, readable, picked }: TraitSource): Promise<SessionTraits> {
  const known = [...picked.keys()].some((version) => version !== 'SSLv3');
  const first = known ? await examine({}) : null;
  const second = first?.session ? await examine({ session: first.session }) : null;
  const begunAnew = readable && readable !== 'SSLv3' && first ? await examine({ renegotiate: true }) : null;
  const session = first?.session ? readSession(first.session) : null;
  return {
    ocsp_stapling: first?.stapled ?? null,
    session_resumption: first === null ? null : first.session === null ? false : (second?.resumed ?? null),
    ticket_lifetime: session?.ticket ? session.lifetime : null,
    early_data: session && first?.version === 'TLSv1.3' ? session.earlyData : null,
    client_renegotiation: begunAnew?.renegotiated ?? null,
  };
}

/** One empty request. @returns the number of bytes that came back anyway; null if the handshake failed */
async function tryHeartbeat({ askOn, readable, picked, timeoutMs }: TraitSource): Promise<number | null> {
  if (!readable || readable === 'SSLv3') return null;
  let leaked: number | null = null;
  const offer = { version: readable, suites: picked.get(readable) ?? [], heartbeat: true };
  await askOn(offer, async ({ hello }, connection) => {
    if (!hello?.extensions.has(heartbeatExtension)) return;
    leaked = 0;
    if (!(await connection.write(emptyHeartbeat(versionCode(readable))))) return;
    await connection.read({
      idleMs: Math.min(timeoutMs, longestReactionMs),
      done: (bytes) => {
        const found = leakedBytes(bytes);
        if (found === 'more') return false;
        leaked = found;
        return true;
      },
    });
  });
  return leaked;
}

/**
 * Sends two plain messages instead of encrypted ones. A sound server rejects the first; a vulnerable one accepts it
 * silently, and cannot decrypt the second. @returns null if the handshake failed, or the server is silent on both
 */
async function tryEarlyCipherChange(source: TraitSource): Promise<boolean | null> {
  const { askOn, readable, picked, timeoutMs } = source;
  if (!readable) return null;
  let applied: boolean | null = null;
  const message = earlyCipherChange(versionCode(readable));
  // Two silences must fit into the lifetime of a connection.
  const idleMs = Math.min(timeoutMs / 2, longestReactionMs);
  await askOn({ version: readable, suites: picked.get(readable) ?? [] }, async ({ done }, connection) => {
    if (!done || !(await connection.write(message))) return;
    const first = await connection.read({ idleMs, done: (bytes) => bytes.length > 0 });
    if (first.end === 'deadline') return;
    if (first.end !== 'idle') {
      applied = false;
      return;
    }
    if (!(await connection.write(message))) return;
    const { bytes, end } = await connection.read({
      idleMs,
      done: (each) => acceptedCipherChange(each) !== null,
    });
    applied = acceptedCipherChange(bytes) ?? (end === 'closed' || end === 'reset' ? false : null);
  });
  return applied;
}

/**
 * Resumes a session by its ticket, with a session ID shorter than servers expect.
 * @returns the number of bytes that came back after the ID; null if the server issues no ticket, or did not resume it
 */
async function tryTicket({ ask, examine, readable, picked }: TraitSource): Promise<number | null> {
  if (!readable || readable === 'SSLv3') return null;
  const given = (await examine({ old: true }))?.session;
  const ticket = given ? readSession(given)?.ticket : null;
  if (!ticket) return null;
  const sessionId = randomBytes(sessionNameBytes);
  const response = await ask({
    version: readable,
    suites: picked.get(readable) ?? [],
    resume: { sessionId, ticket },
  });
  if (response.kind !== 'hello') return null;
  const { sessionId: repeated } = response.hello;
  return repeated.subarray(0, sessionNameBytes).equals(sessionId)
    ? bytesBehindName(sessionId, repeated)
    : null;
}

/**
 * Tests whether the server reacts differently to badly padded secrets, twice in the same way.
 * @returns its reactions if they differ, else an empty list; null if unclear, or without RSA key exchange
 */
async function tryPaddings(source: TraitSource): Promise<string[] | null> {
  const { readable, picked } = source;
  if (!readable || readable === 'SSLv3') return null;
  const suites = (picked.get(readable) ?? []).filter((id) => cipherSuites().get(id)?.exchange === 'RSA');
  if (suites.length === 0) return null;
  let last: Map<PaddingForm, string> | null = null;
  for (let round = 0; round < paddingRounds; round++) {
    const seen = await reactions(source, readable, suites);
    // An oracle reacts consistently; a busy server may lose an alert now and then.
    if (seen !== null && new Set(seen.values()).size === 1) return [];
    if (seen !== null && paddingForms.every((form) => last?.get(form) === seen.get(form))) {
      return [...seen].map(([form, reaction]) => `${form}: ${reaction}`);
    }
    last = seen;
  }
  return null;
}

/** The first record shows most; the end of the connection adds the rest. */
async function reactionOf(connection: Connection, idleMs: number): Promise<string> {
  const first = await connection.read({ idleMs, done: (bytes) => bytes.length >= 7 });
  const then =
    first.end === 'match' ? await connection.read({ idleMs: Math.min(idleMs, aftermathMs) }) : first;
  const bytes = first === then ? first.bytes : Buffer.concat([first.bytes, then.bytes]);
  return reactionIn(bytes, then.end === 'idle' ? 'open' : 'closed');
}

/** One connection per form. @returns null if one of the handshakes failed */
async function reactions(
  { askOn, timeoutMs }: TraitSource,
  version: TlsVersion,
  suites: readonly number[],
): Promise<Map<PaddingForm, string> | null> {
  const seen = new Map<PaddingForm, string>();
  let key: KeyObject | null = null;
  for (const form of paddingForms) {
    await askOn({ version, suites }, async ({ certificates }, connection) => {
      key ??= certificates?.[0] ? rsaKeyOf(certificates[0]) : null;
      if (key === null || !(await connection.write(paddedFlight(key, versionCode(version), form)))) return;
      seen.set(form, await reactionOf(connection, Math.min(timeoutMs, longestReactionMs)));
    });
    if (!seen.has(form)) return null;
  }
  return seen;
}
