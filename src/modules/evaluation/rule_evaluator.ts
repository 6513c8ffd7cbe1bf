import type { ProfilePart } from '../../domain/asset.ts';
import type { Fingerprint, ParsedService } from '../../domain/service.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { forEachItem } from '../../engine/each.ts';
import { LongWork } from '../../engine/long-work.ts';
import { type DataContext, defineModule, type ExecContext } from '../../engine/module.ts';
import { listItems } from '../../engine/options.ts';
import {
  attributeFacts,
  factsOfClaim,
  factsOfProfile,
  factsOfResponse,
} from '../../knowledge/evaluation-rules/observed-facts.ts';
import { RuleEvaluation } from '../../knowledge/evaluation-rules/rule-evaluation.ts';
import type { RuleFinding } from '../../knowledge/evaluation-rules/rule-finding.ts';

export default defineModule({
  name: 'rule_evaluator',
  type: 'evaluation',
  version: '1.0.0',
  description:
    'Evaluates declarative rules on each port: shipped, installed and those of plugins; sends nothing.',
  options: {
    rules: {
      Type: 'string',
      Description: 'IDs of the rules to evaluate, as a comma-separated list, or all.',
      Default: 'all',
    },
    tags: {
      Type: 'string',
      Description:
        'Evaluates only rules with one of these tags, as a comma-separated list; empty for every rule.',
      Default: '',
    },
  },
  requires: ['service_fingerprints'],
  provides: ['vulnerabilities'],
  reads: ['parsed_services', 'asset_profiles', 'banners'],
  rereadsBanners: true,
  async execute(ctx, data) {
    const { rules, unknown } = (await ctx.evaluationRules()).select(
      listItems(ctx.options.rules),
      listItems(ctx.options.tags),
    );
    for (const id of unknown) ctx.warn('unknown_rule', `no evaluation rule has the id ${id}`, id);
    if (!data.has('parsed_services')) {
      const reason =
        'rule_evaluator requires parsers before it: rules about HTTP, TLS, SSH and mail found nothing';
      ctx.warn('not_evaluated', reason);
    }
    await new RuleRun(ctx, data, new RuleEvaluation(rules)).run();
  },
});

class RuleRun {
  readonly #ctx: ExecContext;
  readonly #data: DataContext;
  readonly #evaluation: RuleEvaluation;
  readonly #work = new LongWork();

  constructor(ctx: ExecContext, data: DataContext, evaluation: RuleEvaluation) {
    this.#ctx = ctx;
    this.#data = data;
    this.#evaluation = evaluation;
  }

  async run(): Promise<void> {
    const evaluation = this.#evaluation;
    const withBody = evaluation.reads('http.body');
    // Drain all streams concurrently: a producer must never wait for a reader that waits for another one.
    await Promise.all([
      this.#drain<Banner>('banners', (banner) =>
        evaluation.observe(banner, factsOfResponse(banner, withBody)),
      ),
      this.#drain<ParsedService>('parsed_services', (service) =>
        evaluation.observe(service, attributeFacts(service, Date.now())),
      ),
      this.#drain<Fingerprint>('service_fingerprints', (claim) =>
        evaluation.observe(claim, factsOfClaim(claim), claim),
      ),
      this.#drain<ProfilePart>('asset_profiles', (profile) => {
        evaluation.observeHost(profile.host, factsOfProfile(profile));
        return [];
      }),
    ]);
    for (const findings of evaluation.complete()) await this.#publish(findings);
  }

  async #drain<T>(key: string, take: (item: T) => readonly RuleFinding[]): Promise<void> {
    if (!this.#data.has(key)) return;
    await forEachItem(this.#ctx, this.#data.stream<T>(key), { concurrency: 1 }, (item) =>
      this.#publish(take(item)),
    );
  }

  async #publish(findings: readonly RuleFinding[]): Promise<void> {
    this.#ctx.signal.throwIfAborted();
    if (findings.length > 0) await this.#data.append<RuleFinding>('vulnerabilities', ...findings);
    if (this.#work.isDue) await this.#work.yield();
  }
}
