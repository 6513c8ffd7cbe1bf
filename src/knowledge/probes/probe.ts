import type { ResponseForm } from '../requests/response-form.ts';

/** A dialogue that asks a service what it is: harmless read commands only. */
export interface Probe {
  name: string;
  /** Service name that an identified answer stands for; null for a probe that fits many. */
  service: string | null;
  /** Ports where this service is usual. */
  ports: readonly number[];
  /** Ports where another service is more usual. */
  alsoPorts?: readonly number[];
  /** The service speaks first; this is the form of its greeting. */
  greeting: ResponseForm | null;
  steps: readonly ProbeStep[];
  /** How the dialogue goes on in TLS, if the service offers it. */
  upgrade?: Upgrade;
  /** Asked inside the TLS that the upgrade began. */
  inside?: readonly ProbeStep[];
  /** Said at the end; the answer does not matter. */
  farewell?: string;
  /** Name of the probe that asks on, on a new connection, when the steps ended early. */
  next?: string;
  /** Asked besides, on a connection of its own, once an answer of the port fits. */
  after?: Follow;
  /** Only where everything is to be found out that a server accepts. */
  thorough?: boolean;
  /** It logs in with the name that a service gives to strangers, or lets it go on: only where that is allowed. */
  intrusive?: boolean;
}

/** Which answers deserve a further question. */
interface Follow {
  /** Only inside TLS that began with the first byte. */
  secure?: boolean;
  /** In the first bytes of the answer. */
  answer: RegExp;
  /** Where the answer alone does not tell enough. */
  ports?: readonly number[];
}

export interface ProbeStep {
  /** A function gets the host it talks to, what the service has said so far, and the port. */
  send: string | Uint8Array | ((host: string, said: Buffer, port: number) => string | Uint8Array);
  answer: ResponseForm;
  /** The service answers once we have ended our half of the connection. */
  last?: boolean;
  /** The next step only follows an answer that fits. */
  proceed?: RegExp;
}

export interface Upgrade {
  /** In an answer so far. */
  offered: RegExp;
  /** null = the offer is the agreement: the handshake follows at once. */
  request: { send: string; answer: ResponseForm; accepted: RegExp } | null;
}
