import type { Severity } from '../../domain/finding.ts';
import { type Banner, bannerText } from '../../domain/text/banner.ts';
import { type HttpRecord, parseHttp } from '../protocols/http.ts';
import { isSecure, serverBytes } from '../protocols/probe-session.ts';
import { parseTls, type TlsFacts } from '../protocols/tls.ts';

/** A misconfiguration that the answer of a service can prove. */
export interface Check {
  /** Stable: it names the finding in results, comparisons and rules. */
  id: string;
  title: string;
  severity: Severity;
  remediation: string;
  references: readonly string[];
  /** How sure a finding is once its evidence is there, 0..1. */
  confidence: number;
  /** The very text or fact that proves it; null = it is not so, or the answer does not tell. */
  prove(answer: CheckResponse): string | null;
}

/** Characters of evidence that are kept. */
const evidenceLimit = 512;
/** Bytes of a page that checks look at. */
const pageLimit = 64 * 1024;

/** One banner as the checks see it; each protocol is read once, when the first check asks. */
export class CheckResponse {
  readonly banner: Banner;
  /** The name by which the host was asked, or null when only its address was known. */
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

  /** SSDP looks like HTTP, but no page is behind it. */
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

  /** The beginning of the page as text. */
  get page(): string {
    return this.http?.body.toString('latin1', 0, pageLimit) ?? '';
  }

  /** The beginning of the answer as text that is safe to store. */
  get text(): string {
    return evidence(bannerText(this.bytes.subarray(0, evidenceLimit)));
  }
}

/** Evidence of a bounded length without blanks around it. */
export function evidence(text: string): string {
  return text.slice(0, evidenceLimit).trim().toWellFormed();
}
