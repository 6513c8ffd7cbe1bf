import type { Severity } from '../../domain/finding.ts';
import { type Banner, bannerText } from '../../domain/text/banner.ts';
import { type HttpRecord, parseHttp } from '../protocols/http.ts';
import { isSecure, serverBytes } from '../protocols/probe-session.ts';
import { parseTls, type TlsFacts } from '../protocols/tls.ts';

/** A misconfiguration that a service response can show. */
export interface Check {
  /** Stable: it names the finding in results, comparisons and rules. */
  id: string;
  title: string;
  severity: Severity;
  /** What removes it, in the imperative, at most 60 characters. Findings that one change removes have equal texts. */
  action: string;
  remediation: string;
  references: readonly string[];
  /** Confidence of a finding with evidence, 0..1. */
  confidence: number;
  /** The text or fact that shows it; null = not present, or the response does not say. */
  prove(response: CheckResponse): string | null;
}

/** Maximum length of evidence, characters. */
const evidenceLimit = 512;
/** Size of the page prefix that checks read, bytes. */
const pageLimit = 64 * 1024;

/** One banner as the checks see it; parses each protocol once, on first use. */
export class CheckResponse {
  readonly banner: Banner;
  /** Host name used in the request, or null if only the address was known. */
  readonly name: string | null;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly bytes: Buffer;
  #http: HttpRecord | null | undefined;
  #tls: TlsFacts | null | undefined;

  constructor(banner: Banner, name: string | null, now: number) {
    this.banner = banner;
    this.name = name;
    this.now = now;
    this.bytes = serverBytes(banner);
  }

  /** TLS from the first byte. */
  get secure(): boolean {
    return isSecure(this.banner);
  }

  /** SSDP looks like HTTP but serves no page. */
  get http(): HttpRecord | null {
    if (this.#http === undefined) {
      this.#http = this.banner.protocol === 'udp' ? null : parseHttp(this.bytes);
    }
    return this.#http;
  }

  get tls(): TlsFacts | null {
    if (this.#tls === undefined) this.#tls = this.banner.tls ? parseTls(this.banner.tls).facts : null;
    return this.#tls;
  }

  /** Start of the page as text. */
  get page(): string {
    return this.http?.body.toString('latin1', 0, pageLimit) ?? '';
  }

  /** Start of the response as text that is safe to store. */
  get text(): string {
    return evidence(bannerText(this.bytes.subarray(0, evidenceLimit)));
  }
}

/** Trimmed evidence of bounded length. */
export function evidence(text: string): string {
  return text.slice(0, evidenceLimit).trim().toWellFormed();
}
