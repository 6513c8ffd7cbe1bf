import { classOf, type HostFinding, plainAction } from '../../domain/finding.ts';
import type { Endpoint } from '../../domain/host.ts';
import type { Fingerprint, ParsedService } from '../../domain/service.ts';
import { forEachItem } from '../../engine/each.ts';
import { LongWork } from '../../engine/long-work.ts';
import { defineModule } from '../../engine/module.ts';
import type { SshFacts } from '../../knowledge/protocols/ssh.ts';
import type { TlsFacts } from '../../knowledge/protocols/tls.ts';
import { siteEvidence } from '../../knowledge/site-evidence.ts';
import { sshWeaknesses } from '../../knowledge/ssh/ssh-weaknesses.ts';
import { type TlsRequirements, tlsWeaknesses } from '../../knowledge/tls/weaknesses.ts';
import type { Weakness } from '../../knowledge/weakness.ts';

export default defineModule({
  name: 'weak_cipher_checker',
  type: 'evaluation',
  version: '1.0.0',
  description:
    'Finds weak TLS versions, cipher suites, keys and signatures, and weak SSH algorithms; sends nothing itself.',
  options: {
    min_tls: {
      Type: 'string',
      Description: 'Oldest TLS version that is not a finding.',
      Default: '1.2',
      Enum: ['1.0', '1.1', '1.2', '1.3'],
    },
    min_rsa_bits: {
      Type: 'int',
      Description: 'Shortest RSA or DSA certificate key that is not a finding.',
      Default: 2048,
      Min: 512,
      Max: 16_384,
    },
  },
  requires: ['service_fingerprints'],
  provides: ['vulnerabilities'],
  reads: ['parsed_services'],
  async execute(ctx, data) {
    const demands = { minTls: ctx.options.min_tls, minRsaBits: ctx.options.min_rsa_bits };
    const published = new Set<string>();
    const work = new LongWork();
    const evaluate = async (service: ParsedService) => {
      if (work.isDue) await work.yield();
      for (const weakness of weaknessesOf(service, demands)) {
        const finding = findingOf(service, weakness);
        const identity = `${finding.id} ${finding.host} ${finding.port}`;
        if (published.has(identity)) continue;
        published.add(identity);
        await data.append<HostFinding>('vulnerabilities', finding);
      }
    };
    if (!data.has('parsed_services')) {
      ctx.warn(
        'not_evaluated',
        'weak_cipher_checker requires tls_parser or ssh_parser before it: nothing was evaluated',
      );
    }
    // Drain both streams concurrently: a producer must never wait for a reader that waits for another one.
    await Promise.all([
      data.has('parsed_services')
        ? forEachItem(ctx, data.stream<ParsedService>('parsed_services'), { concurrency: 1 }, evaluate)
        : undefined,
      forEachItem(ctx, data.stream<Fingerprint>('service_fingerprints'), { concurrency: 1 }, () => undefined),
    ]);
  },
});

/** Those of the port and of its further sites, each once. */
function weaknessesOf({ parser, attributes }: ParsedService, demands: TlsRequirements): Weakness[] {
  const { sites, ...own } = attributes;
  const named = (Array.isArray(sites) ? sites : []) as { name: string }[];
  const found = [{ name: null, ...own }, ...named].flatMap(({ name, ...facts }) =>
    weaknessesIn(parser, facts, demands).map((weakness) => ({ name, weakness })),
  );
  return [...Map.groupBy(found, ({ weakness }) => weakness.id).values()].map((same) => {
    const [first] = same;
    const all = same.map(({ name, weakness }) => ({ name, evidence: weakness.evidence }));
    return { ...(first as (typeof same)[number]).weakness, evidence: siteEvidence(all) ?? '' };
  });
}

function weaknessesIn(
  parser: string,
  attributes: Record<string, unknown>,
  demands: TlsRequirements,
): Weakness[] {
  const { tls, ssh } = attributes as { tls?: Partial<TlsFacts>; ssh?: Partial<SshFacts> };
  if (parser === 'tls_parser' && tls) return tlsWeaknesses(tls, demands);
  if (parser === 'ssh_parser' && ssh) return sshWeaknesses(ssh);
  return [];
}

function findingOf(
  { host, port, protocol }: Endpoint,
  { references, action, ...weakness }: Weakness,
): HostFinding {
  return {
    host,
    port,
    protocol,
    ...weakness,
    cvss: null,
    kev: false,
    epss: null,
    cpe: null,
    affected: null,
    backport_note: null,
    affected_from: null,
    fixed_in: null,
    action: plainAction(action),
    class: classOf({ confidence: weakness.confidence }),
    references: [...references],
    plugin: 'weak_cipher_checker',
  };
}
