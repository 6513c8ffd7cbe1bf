import type { Banner } from '../src/domain/text/banner.ts';
import { parseTls } from '../src/knowledge/protocols/tls.ts';
import { suiteNamed } from '../src/knowledge/tls/suites.ts';
import banner_grabber from '../src/modules/scanner/banner_grabber.ts';
import { tryModule } from './module-trial.ts';

/** The banner of a port, with all that its TLS bears. */
export async function grabTls(
  port: number,
  config: Record<string, unknown> = {},
  host = '127.0.0.1',
): Promise<Banner> {
  const open = { host, port, protocol: 'tcp', state: 'open', reason: 'syn-ack' };
  const { published } = await tryModule(banner_grabber, {
    config: { timeout: '2500ms', retries: 0, tls_enumerate: true, ...config },
    inputs: { open_ports: [open] },
    targets: [host],
  });
  return (published.get('banners') as Banner[])[0] as Banner;
}

/** What the banner of a port says in the words of the parser. */
export async function tlsFactsOf(port: number, config: Record<string, unknown> = {}) {
  const { tls } = await grabTls(port, config);
  if (!tls) throw new Error('no TLS was found');
  return parseTls(tls).facts;
}

/** The suites that a server accepts in a version. */
export const suitesIn = (facts: Awaited<ReturnType<typeof tlsFactsOf>>, version: string) =>
  facts.accepted?.find((each) => each.version === version)?.suites;

/** The number of a suite. */
export const suiteIdOf = (name: string) => suiteNamed(name)?.id ?? 0;
