import type { ResponseForm } from '../requests/response-form.ts';

/** A probe session that identifies a service: harmless read commands only. */
export interface Probe {
  name: string;
  /** Service name that a matching response identifies; null for a generic probe. */
  service: string | null;
  /** Default ports of the service. */
  ports: readonly number[];
  /** Ports where another service is more common. */
  alsoPorts?: readonly number[];
  /** Form of the greeting if the service sends first. */
  greeting: ResponseForm | null;
  steps: readonly ProbeStep[];
  /** Upgrade to TLS, if the service offers it. */
  upgrade?: Upgrade;
  /** Steps inside TLS after the upgrade. */
  inside?: readonly ProbeStep[];
  /** Sent at the end; the response is ignored. */
  farewell?: string;
  /** Name of the probe that continues on a new connection if the steps end early. */
  next?: string;
  /** Further probe on its own connection, sent if a response of the port matches. */
  after?: Follow;
  /** Only in scans that enumerate everything a server accepts. */
  thorough?: boolean;
  /** Uses or continues an anonymous login: only if intrusive probes are allowed. */
  intrusive?: boolean;
}

/** Responses that trigger a further probe. */
interface Follow {
  /** Only inside TLS from the first byte. */
  secure?: boolean;
  /** Pattern in the first bytes of the response. */
  answer: RegExp;
  /** Required ports if the response alone is not specific enough. */
  ports?: readonly number[];
}

export interface ProbeStep {
  /** A function gets the host, the bytes received so far, and the port. */
  send: string | Uint8Array | ((host: string, said: Buffer, port: number) => string | Uint8Array);
  answer: ResponseForm;
  /** The service responds once the client half-closes the connection. */
  last?: boolean;
  /** The next step follows only a matching response. */
  proceed?: RegExp;
}

export interface Upgrade {
  /** Pattern in the responses so far. */
  offered: RegExp;
  /** null = the handshake follows the offer immediately. */
  request: { send: string; answer: ResponseForm; accepted: RegExp } | null;
}

/** A probe of one request to a service that sends nothing first; named like the service unless `more` says otherwise. */
export function requestProbe(
  name: string,
  ports: readonly number[],
  send: ProbeStep['send'],
  answer: ResponseForm,
  more: Partial<Probe> = {},
): Probe {
  return { name, service: name, ports, greeting: null, steps: [{ send, answer }], ...more };
}

/** A probe of a service that sends its greeting first; nothing is sent, except a farewell in `more`. */
export function greetingProbe(
  name: string,
  ports: readonly number[],
  greeting: ResponseForm,
  more: Partial<Probe> = {},
): Probe {
  return { name, service: name, ports, greeting, steps: [], ...more };
}
