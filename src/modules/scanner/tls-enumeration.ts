import { randomBytes } from 'node:crypto';
import type {
  TlsEnumeration,
  TlsObservation,
  TlsTraits,
  TlsVersionSupport,
} from '../../domain/text/banner.ts';
import { clientHello, fallbackScsv, type HelloOffer } from '../../knowledge/tls/client-hello.ts';
import { curveIds, groupIdsOf13, groupName } from '../../knowledge/tls/groups.ts';
import { ServerFlight, type ServerHello } from '../../knowledge/tls/server-flight.ts';
import { readSsl2Hello, type Ssl2Hello, ssl2ClientHello } from '../../knowledge/tls/ssl2.ts';
import { cipherSuites, suiteName, suitesFor } from '../../knowledge/tls/suites.ts';
import { type TlsVersion, tlsVersions, versionCode } from '../../knowledge/tls/versions.ts';
import type { Connection, TlsExamination, TlsExaminationOptions } from '../../net/gate/gate.ts';
import { findTraits, type TalkOn, type TraitResponse } from './tls-traits.ts';

/** Maximum number of handshakes with one server. */
const maxHandshakes = 250;
/** Maximum time of one enumeration, milliseconds. */
const longestEnumerationMs = 60_000;

/** Suites per hello: old servers close the connection above 128. */
const suitesPerHello = 120;

/** Handshakes without a response before the server is given up. */
const maxSilences = 4;

/** Maximum number of certificate chains for further keys. */
const maxOtherChains = 3;

/** Protocols offered in ALPN. */
const usualProtocols = [
  'h2',
  'http/1.1',
  'http/1.0',
  'spdy/3.1',
  'imap',
  'pop3',
  'ftp',
  'xmpp-client',
  'mqtt',
];

const protocolVersionAlert = 70;
const fallbackAlert = 86;

const extensionType = {
  alpn: 16,
  extendedMasterSecret: 23,
  sessionTicket: 35,
  keyShare: 51,
  renegotiation: 0xff01,
};

export interface TlsEnumerationSettings {
  /** Opens a connection ready for a ClientHello; null if that fails. */
  open(): Promise<Connection | null>;
  /** Name for SNI; null if only the address is known. */
  serverName: string | null;
  /** Idle timeout of the server. */
  timeoutMs: number;
  signal: AbortSignal;
  /** The known certificate of the server, DER in base64. */
  leaf: string | null;
  /** Also test for vulnerabilities. */
  intrusive: boolean;
  /** The server minds several connections at a time; by default it does not. */
  oneAtATime?: boolean;
}

/** Outcome of one handshake. `over`: not attempted, as the budget is spent. */
type Response = TraitResponse;

/**
 * Enumerates what a TLS server accepts, by handshakes that are aborted before anything is encrypted: for each
 * version, suites are offered, and what the server chooses is left out of the next offer. One connection each, a few
 * concurrently. @returns null if the server supports no version at all; else includes the observation of its best
 * handshake
 */
export async function enumerateTls(
  settings: TlsEnumerationSettings,
): Promise<{ survey: TlsEnumeration; observation: TlsObservation } | null> {
  return new TlsSurveyor(settings).run();
}

type Offer = Pick<HelloOffer, 'version' | 'suites'> & Partial<HelloOffer>;

class TlsSurveyor {
  #settings: TlsEnumerationSettings;
  #deadline = performance.now() + longestEnumerationMs;
  #handshakes = 0;
  #silences = 0;
  #complete = true;
  /** The suites of each version in the server's order. */
  #picked = new Map<TlsVersion, number[]>();
  #orders = new Map<TlsVersion, 'server' | 'client' | null>();
  #ssl2: Ssl2Hello | null = null;
  /** The first hello of each version. */
  #hellos = new Map<TlsVersion, ServerHello>();
  /** Versions with servers that do not tolerate extensions. */
  #bare = new Set<TlsVersion>();
  /** By the leaf in base64. */
  #chains = new Map<string, string[]>();
  #compression = false;
  #dhBits: number | null = null;
  #rsaBits: number | null = null;
  #groups: number[] = [];
  #protocols: string[] = [];
  #fallbackScsv: boolean | null = null;
  #traits: TlsTraits | undefined;
  /** The end of the last handshake that is to be waited for. */
  #previous: Promise<unknown> = Promise.resolve();

  constructor(settings: TlsEnumerationSettings) {
    this.#settings = settings;
  }

  async run(): Promise<{ survey: TlsEnumeration; observation: TlsObservation } | null> {
    const first = await this.#enumerate('TLSv1.2');
    if (first === 'foreign') return null;
    const others = tlsVersions.filter((version) => version !== 'TLSv1.2');
    await Promise.all([...others.map((version) => this.#enumerate(version)), this.#probeSsl2()]);
    if (this.#picked.size === 0 && this.#ssl2 === null) return null;
    await Promise.all([
      ...this.#spoken.map((version) => this.#findOrder(version)),
      this.#findGroups(),
      this.#findProtocols(),
      this.#tryFallback(),
    ]);
    this.#traits = await this.#findTraits();
    return { survey: this.#result(), observation: this.#observation() };
  }

  /** The accepted versions, oldest first. */
  get #spoken(): TlsVersion[] {
    return tlsVersions.filter((version) => this.#picked.has(version));
  }

  /** The newest version whose handshake can be read to its end. */
  get #readable(): TlsVersion | null {
    return this.#spoken.findLast((version) => version !== 'TLSv1.3') ?? null;
  }

  async #enumerate(version: TlsVersion): Promise<Response['kind']> {
    const all = suitesFor(version).map(({ id }) => id);
    let last: Response = { kind: 'refused', alert: null };
    for (let start = 0; start < all.length; start += suitesPerHello) {
      last = await this.#drain(version, all.slice(start, start + suitesPerHello));
      if (last.kind !== 'refused') break;
      if (last.alert === protocolVersionAlert && !this.#picked.has(version)) break;
    }
    return last.kind;
  }

  /** Offers suites until the server accepts none of the rest. @returns its last response */
  async #drain(version: TlsVersion, suites: readonly number[]): Promise<Response> {
    let left = suites;
    for (;;) {
      const response = await this.#offerOnce(version, left);
      if (response.kind !== 'hello') return response;
      const { suite } = response.hello;
      // A server that chooses another version does not support this one.
      if (response.hello.version !== versionCode(version))
        return { kind: 'refused', alert: protocolVersionAlert };
      if (!left.includes(suite)) return { kind: 'refused', alert: null };
      this.#learn(version, response);
      left = left.filter((id) => id !== suite);
      if (left.length === 0) return { kind: 'refused', alert: null };
    }
  }

  /** A server of the nineties closes the connection if a hello has extensions; retries without them. */
  async #offerOnce(version: TlsVersion, suites: readonly number[]): Promise<Response> {
    const response = await this.#offer({ version, suites });
    const closed = response.kind === 'refused' && response.alert === null;
    const old = version === 'TLSv1.0' || version === 'TLSv1.1';
    if (!closed || !old || this.#picked.has(version) || this.#bare.has(version)) return response;
    this.#bare.add(version);
    const bare = await this.#offer({ version, suites });
    if (bare.kind !== 'hello') this.#bare.delete(version);
    return bare;
  }

  #learn(version: TlsVersion, { hello, flight }: Extract<Response, { kind: 'hello' }>): void {
    this.#picked.set(version, [...(this.#picked.get(version) ?? []), hello.suite]);
    if (!this.#hellos.has(version)) this.#hellos.set(version, hello);
    this.#compression ||= hello.compression !== 0;
    if (flight.key?.kind === 'dhe') this.#dhBits = Math.min(this.#dhBits ?? Infinity, flight.key.bits);
    if (flight.key?.kind === 'rsa') this.#rsaBits = Math.min(this.#rsaBits ?? Infinity, flight.key.bits);
    const chain = (flight.certificates ?? []).map((der) => der.toString('base64'));
    if (chain[0] !== undefined && this.#chains.size <= maxOtherChains && !this.#chains.has(chain[0])) {
      this.#chains.set(chain[0], chain);
    }
  }

  /** Offers the suites in both orders: a server that chooses the same one twice has its own preference. */
  async #findOrder(version: TlsVersion): Promise<void> {
    const suites = this.#picked.get(version) ?? [];
    if (suites.length < 2) return;
    const [forward, backward] = await Promise.all([
      this.#pick({ version, suites }),
      this.#pick({ version, suites: [...suites].reverse() }),
    ]);
    if (forward === null || backward === null) return;
    this.#orders.set(version, forward === backward ? 'server' : 'client');
  }

  async #pick(offer: Offer): Promise<number | null> {
    const response = await this.#offer(offer);
    return response.kind === 'hello' ? response.hello.suite : null;
  }

  async #findGroups(): Promise<void> {
    const version = this.#readable;
    const [modern, old] = await Promise.all([
      this.#picked.has('TLSv1.3') ? this.#groupsOf13() : [],
      version && version !== 'SSLv3' ? this.#curvesOf(version) : [],
    ]);
    this.#groups = [...new Set([...modern, ...old])];
  }

  /** Without a key share, the server names the group it wants. */
  async #groupsOf13(): Promise<number[]> {
    const suites = this.#picked.get('TLSv1.3') ?? [];
    return this.#drainGroups(groupIdsOf13, async (groups) => {
      const response = await this.#offer({ version: 'TLSv1.3', suites, groups, keyShare: false });
      const wanted = response.kind === 'hello' ? response.hello.extensions.get(extensionType.keyShare) : null;
      return wanted && wanted.length >= 2 ? wanted.readUInt16BE(0) : null;
    });
  }

  /** RSA suites if available: a server with an ECDSA certificate requires its curve among the groups. */
  async #curvesOf(version: TlsVersion): Promise<number[]> {
    const named = (start: string) => (id: number) =>
      cipherSuites().get(id)?.exchange.startsWith(start) ?? false;
    const all = (this.#picked.get(version) ?? []).filter(
      (id) => named('ECDHE_')(id) || named('ECDH_anon')(id),
    );
    const rsa = all.filter(named('ECDHE_RSA'));
    const suites = rsa.length > 0 ? rsa : all;
    if (suites.length === 0) return [];
    const groupIn = async (groups: readonly number[]) => {
      const response = await this.#offer({ version, suites, groups });
      const key = response.kind === 'hello' ? response.flight.key : null;
      return key?.kind === 'ecdhe' ? key.group : null;
    };
    return this.#drainGroups(curveIds, async (left, found) => {
      const group = await groupIn(left);
      if (group !== null || rsa.length > 0 || found.length === 0) return group;
      return groupIn([...left, ...found]);
    });
  }

  async #drainGroups(
    groups: readonly number[],
    pick: (left: readonly number[], found: readonly number[]) => Promise<number | null>,
  ): Promise<number[]> {
    const found: number[] = [];
    let left = groups;
    while (left.length > 0) {
      const picked = await pick(left, found);
      if (picked === null || !left.includes(picked)) break;
      found.push(picked);
      left = left.filter((id) => id !== picked);
    }
    return found;
  }

  async #findProtocols(): Promise<void> {
    const version = this.#readable;
    if (version === 'SSLv3' || (version && this.#bare.has(version))) return;
    let left = usualProtocols;
    while (left.length > 0) {
      const chosen = version ? await this.#protocolIn(version, left) : await this.#protocolOf13(left);
      if (!left.includes(chosen)) break;
      this.#protocols.push(chosen);
      left = left.filter((name) => name !== chosen);
    }
  }

  async #protocolIn(version: TlsVersion, alpn: string[]): Promise<string> {
    const response = await this.#offer({ version, suites: this.#picked.get(version) ?? [], alpn });
    const content = response.kind === 'hello' ? response.hello.extensions.get(extensionType.alpn) : null;
    return content?.subarray(3).toString('latin1') ?? '';
  }

  /** TLS 1.3 encrypts the choice: it takes the whole handshake. */
  async #protocolOf13(alpn: string[]): Promise<string> {
    return (this.#picked.size > 0 && (await this.#examine({ alpn }))?.alpn) || '';
  }

  /** A server that supports a newer version must reject TLS_FALLBACK_SCSV. */
  async #tryFallback(): Promise<void> {
    const version = this.#spoken.findLast((each) => each !== 'TLSv1.3' && each !== this.#spoken.at(-1));
    if (!version) return;
    const suites = [...(this.#picked.get(version) ?? []), fallbackScsv];
    const response = await this.#offer({ version, suites });
    if (response.kind === 'hello') this.#fallbackScsv = false;
    if (response.kind !== 'refused') return;
    // Some close the connection instead of sending the alert: two rejections are not a coincidence.
    const again = response.alert === fallbackAlert ? response : await this.#offer({ version, suites });
    if (again.kind === 'refused') this.#fallbackScsv = true;
  }

  /** Servers that support only SSL 2.0 have none. */
  #findTraits(): Promise<TlsTraits> | undefined {
    if (this.#picked.size === 0) return undefined;
    const { timeoutMs, intrusive } = this.#settings;
    return findTraits({
      ask: (offer) => this.#offer(offer),
      askOn: (offer, then) => this.#offer(offer, then),
      examine: (options) => this.#examine(options),
      picked: this.#picked,
      readable: this.#readable,
      timeoutMs,
      intrusive,
    });
  }

  /** A complete handshake; null if it failed. */
  #examine(options: Partial<TlsExaminationOptions>): Promise<TlsExamination | null> {
    return this.#inTurn(() => this.#examineNow(options));
  }

  async #examineNow(options: Partial<TlsExaminationOptions>): Promise<TlsExamination | null> {
    const { serverName, timeoutMs } = this.#settings;
    const connection = await this.#open();
    if (connection === null || connection === 'over') return null;
    try {
      const handshakeMs = Math.min(timeoutMs, this.#leftMs);
      const outcome = await connection.examineTls({ serverName, handshakeMs, ...options });
      return 'reason' in outcome ? null : outcome;
    } finally {
      connection.close();
    }
  }

  /** One handshake, retried once without a response. */
  async #offer(offer: Offer, then?: TalkOn): Promise<Response> {
    const response = await this.#handshake(offer, then);
    if (response.kind !== 'silent') return response;
    const second = await this.#handshake(offer, then);
    if (second.kind === 'silent') {
      this.#silences += 1;
      this.#complete = false;
    }
    return second;
  }

  async #handshake(offer: Offer, then?: TalkOn): Promise<Response> {
    const flight = new ServerFlight();
    const { version } = offer;
    const groups = version === 'TLSv1.3' ? groupIdsOf13 : curveIds;
    const hello = clientHello({
      groups,
      keyShare: true,
      serverName: this.#settings.serverName,
      alpn: [],
      compression: true,
      extensions: !this.#bare.has(version),
      random: randomBytes(64),
      ...offer,
    });
    const end = await this.#inTurn(() =>
      this.#exchange(
        hello,
        (bytes) => flight.read(bytes),
        async (connection) => {
          if (flight.hello && then) await then(flight, connection);
        },
      ),
    );
    if (end === 'over') return { kind: 'over' };
    if (flight.hello) return { kind: 'hello', hello: flight.hello, flight };
    if (flight.alert !== null) return { kind: 'refused', alert: flight.alert };
    if (flight.foreign) return { kind: 'foreign' };
    return end === 'closed' ? { kind: 'refused', alert: null } : { kind: 'silent' };
  }

  async #probeSsl2(): Promise<void> {
    let response: ReturnType<typeof readSsl2Hello> = 'more';
    const hello = ssl2ClientHello(randomBytes(16));
    await this.#inTurn(() =>
      this.#exchange(hello, (bytes) => {
        response = readSsl2Hello(bytes);
        return response !== 'more';
      }),
    );
    const read = response as ReturnType<typeof readSsl2Hello>;
    if (read === null || read === 'more') return;
    this.#ssl2 = read;
  }

  /** Runs one handshake: at once, or after all earlier ones. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#settings.oneAtATime) return work();
    const turn = this.#previous.then(work);
    this.#previous = turn.catch(() => undefined);
    return turn;
  }

  get #leftMs(): number {
    return this.#deadline - performance.now();
  }

  /** A connection within the budget; `over` if it is spent. */
  async #open(): Promise<Connection | 'over' | null> {
    const { signal } = this.#settings;
    const spent = this.#handshakes >= maxHandshakes || this.#silences >= maxSilences || this.#leftMs <= 0;
    if (spent || signal.aborted) {
      this.#complete = false;
      return 'over';
    }
    this.#handshakes += 1;
    return this.#settings.open();
  }

  /** Sends one hello on a new connection and reads until `done`; `then` may continue the exchange. */
  async #exchange(
    hello: Buffer,
    done: (bytes: Buffer) => boolean,
    then?: (connection: Connection) => Promise<void>,
  ): Promise<'over' | 'closed' | 'open'> {
    const connection = await this.#open();
    if (connection === 'over') return 'over';
    if (connection === null) return 'open';
    try {
      if (!(await connection.write(hello))) return 'closed';
      const { end } = await connection.read({
        idleMs: Math.min(this.#settings.timeoutMs, Math.max(0, this.#leftMs)),
        done,
      });
      if (end === 'match') await then?.(connection);
      return end === 'closed' || end === 'reset' ? 'closed' : 'open';
    } finally {
      connection.close();
    }
  }

  #result(): TlsEnumeration {
    const version = this.#readable;
    const hello = version ? this.#hellos.get(version) : undefined;
    const has = (type: number) => (hello ? hello.extensions.has(type) : null);
    const extended = version !== 'SSLv3' && !(version && this.#bare.has(version));
    return {
      accepted: this.#accepted(),
      groups: this.#groups.map(groupName),
      dh_bits: this.#dhBits,
      export_rsa_bits: this.#rsaBits,
      alpn_protocols: this.#protocols,
      compression: version ? this.#compression : null,
      secure_renegotiation: has(extensionType.renegotiation),
      extended_master_secret: extended ? has(extensionType.extendedMasterSecret) : null,
      session_tickets: extended ? has(extensionType.sessionTicket) : null,
      fallback_scsv: this.#fallbackScsv,
      other_chains: this.#otherChains(),
      handshakes: this.#handshakes,
      complete: this.#complete,
      ...(this.#traits ? { traits: this.#traits } : {}),
    };
  }

  #otherChains(): string[][] {
    const chains = [...this.#chains.values()];
    const leaf = this.#settings.leaf ?? chains[0]?.[0];
    return chains.filter(([each]) => each !== leaf).slice(0, maxOtherChains);
  }

  #accepted(): TlsVersionSupport[] {
    const spoken = this.#spoken.map((version) => ({
      version,
      suites: (this.#picked.get(version) ?? []).map(suiteName),
      order: this.#orders.get(version) ?? null,
    }));
    return this.#ssl2 ? [{ version: 'SSLv2', suites: this.#ssl2.suites, order: null }, ...spoken] : spoken;
  }

  /** The handshake in the newest version, as far as it was read. */
  #observation(): TlsObservation {
    const newest = this.#accepted().at(-1);
    const ssl2Chain = this.#ssl2?.certificate ? [this.#ssl2.certificate.toString('base64')] : [];
    return {
      version: newest?.version ?? 'unknown',
      cipher: newest?.suites[0] ?? 'unknown',
      alpn: null,
      chain: [...this.#chains.values()][0] ?? ssl2Chain,
    };
  }
}
