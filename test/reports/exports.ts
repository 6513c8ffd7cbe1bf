import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SeededRandom } from '../../src/report/fixtures/seeded-random.ts';
import {
  type SyntheticScan,
  type SyntheticScanOptions,
  syntheticScan,
} from '../../src/report/fixtures/synthetic-scan.ts';
import { openService, type Service } from '../../src/server/fixtures/service.ts';
import { run } from '../cli/command.ts';
import { recordScan } from '../recorded-scan.ts';

export interface Exported {
  status: number;
  headers: Record<string, unknown>;
  body: Buffer;
}

/** A service with recorded scans, whose exports go the way of any client. */
export class Exports {
  readonly service: Service;
  readonly #folder = mkdtempSync(join(tmpdir(), 'portolan-exports-'));

  private constructor(service: Service) {
    this.service = service;
  }

  static async open(): Promise<Exports> {
    return new Exports(await openService());
  }

  /** @returns the ID of the scan */
  async record(scan: SyntheticScan): Promise<string> {
    const { store, workspace } = this.service;
    await recordScan({ store, workspace }, scan);
    return scan.facts.scan_id;
  }

  async export(scanId: string, format: string, more = ''): Promise<Exported> {
    const url = `/api/v1/workspace/scans/${scanId}/export?format=${format}${more}`;
    const { statusCode: status, headers, rawPayload: body } = await this.service.app.inject({ url });
    return { status, headers, body };
  }

  /** The export of a scan that has one. */
  async bodyOf(scanId: string, format: string, more = ''): Promise<Buffer> {
    const { status, body } = await this.export(scanId, format, more);
    if (status !== 200) throw new Error(`${format}: ${status} ${body.toString().slice(0, 1000)}`);
    return body;
  }

  file(name: string): string {
    return join(this.#folder, name);
  }

  async close(): Promise<void> {
    await this.service.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A scan of any size and kind, by its seed. */
export function randomScan(seed: number): SyntheticScan {
  const random = new SeededRandom(seed * 7919);
  const hosts = 1 + random.below(40);
  const options: SyntheticScanOptions = {
    seed,
    hosts,
    servicesPerHost: 3 + random.below(6),
    findings: random.below(7) === 0 ? 0 : 1 + random.below(hosts * 5),
    kinds: 40 + random.below(80),
    exploited: random.next() / 5,
    networks: 1 + random.below(4),
    ipv6: random.pick([0, 0, 0.5, 1]),
    names: random.below(4) > 0,
    longNames: random.below(8) === 0,
    canceled: random.below(5) === 0,
    compliance: random.below(2) === 0,
    certificates: random.below(3) > 0,
    extras: random.below(4),
    errors: random.below(4),
  };
  return syntheticScan(options);
}

/** The text of a PDF as its readers search it. */
export async function pdfText(file: string, ...flags: string[]): Promise<string> {
  const { code, stdout, stderr } = await run('pdftotext', ['-q', ...flags, file, '-']);
  if (code !== 0) throw new Error(`pdftotext: ${stderr}`);
  return stdout;
}

/** The visible text of a page, a table row or paragraph per line. */
export function htmlText(html: string): string {
  const text = html
    .replace(/<style[^]*?<\/style>/g, '')
    .replace(/\s+/g, ' ')
    .replace(/<\/(?:tr|p|li|h[1-6]|summary|div|dt|dd|section|caption)>/g, '\n')
    .replace(/<\/t[dh]>/g, ' | ')
    .replace(/<[^>]*>/g, '');
  return unescapeHtml(text);
}

export function unescapeHtml(text: string): string {
  const named: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', amp: '&' };
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (decimal) return String.fromCodePoint(Number(decimal));
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
    return named[name] ?? whole;
  });
}
