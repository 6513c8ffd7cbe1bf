import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bannerOf, tryModule } from '../../../test/module-trial.ts';
import type { HostFinding } from '../../domain/finding.ts';
import { RuleSet } from '../../knowledge/evaluation-rules/rule-set.ts';
import { parseHttp } from '../../knowledge/protocols/http.ts';
import { readRules } from '../../plugins/rules/rule-reader.ts';
import { shippedRulesDir } from '../../plugins/rules/shipped-rules.ts';
import ruleEvaluator from './rule_evaluator.ts';

const shipped = readdirSync(shippedRulesDir).flatMap((name) =>
  readRules(readFileSync(join(shippedRulesDir, name), 'utf8'), name),
);

const page = 'HTTP/1.1 200 OK\r\nAllow: GET, TRACE\r\n\r\n<title>PHP 8.2.7 - phpinfo()</title>';
const banner = bannerOf(80, page);
const endpoint = { host: banner.host, port: banner.port, protocol: banner.protocol } as const;
const parsed = {
  ...endpoint,
  service: 'http',
  parser: 'http_parser',
  attributes: { http: parseHttp(Buffer.from(page))?.facts },
  truncated: false,
};
const claim = {
  ...endpoint,
  match: 'http',
  product: null,
  vendor: null,
  version: null,
  cpe: null,
  confidence: 0.8,
  source: 'http',
  evidence: '',
  alternatives: [],
};
const inputs = { banners: [banner], parsed_services: [parsed], service_fingerprints: [claim] };

async function trial(config: Record<string, unknown> = {}, given: Record<string, unknown[]> = inputs) {
  const evaluationRules = new RuleSet(shipped);
  const { published, warnings } = await tryModule(ruleEvaluator, { config, inputs: given, evaluationRules });
  const findings = (published.get('vulnerabilities') ?? []) as HostFinding[];
  return { ids: findings.map(({ id }) => id).sort(), findings, warnings };
}

describe('rule_evaluator', () => {
  it('evaluates every rule on every port', async () => {
    const { ids, findings } = await trial();
    expect(ids).toEqual(['http-phpinfo', 'http-trace-allowed']);
    expect(findings[0]).toMatchObject({ ...endpoint, plugin: findings[0]?.id });
  });

  it('evaluates the rules that are named', async () => {
    expect((await trial({ rules: 'http-phpinfo' })).ids).toEqual(['http-phpinfo']);
  });

  it('evaluates the rules with one of the tags', async () => {
    expect((await trial({ tags: 'debug, crypto' })).ids).toEqual(['http-phpinfo']);
  });

  it('warns about a rule that does not exist', async () => {
    const { ids, warnings } = await trial({ rules: 'http-phpinfo, no-such-rule' });
    expect(ids).toEqual(['http-phpinfo']);
    expect(warnings).toEqual(['unknown_rule: no evaluation rule has the id no-such-rule']);
  });

  it('says that it needs parsers', async () => {
    const { ids, warnings } = await trial({}, { service_fingerprints: [{ ...claim, match: 'finger' }] });
    expect(ids).toEqual(['finger-exposed']);
    expect(warnings.map((warning) => warning.split(':')[0])).toEqual(['not_evaluated']);
  });

  it('survives facts of any shape', async () => {
    const odd = [null, 7, 'text', [], { a: { b: 1 } }, { headers: 7, certificate: 'x', auth: {} }];
    const services = odd.flatMap((value) =>
      ['http', 'tls', 'ssh', 'other'].map((name) => ({ ...parsed, attributes: { [name]: value } })),
    );
    expect((await trial({}, { ...inputs, parsed_services: services })).warnings).toEqual([]);
  });
});

describe('the shipped rules', () => {
  it('have unique ids, a reference, a remedy, an action and the tag of their file', () => {
    expect(shipped.length).toBeGreaterThanOrEqual(25);
    expect(new Set(shipped.map(({ id }) => id)).size).toBe(shipped.length);
    for (const { id, references, action, remediation, tags } of shipped) {
      expect(references.length, id).toBeGreaterThan(0);
      expect(remediation, id).not.toBe('');
      expect(action, id).toMatch(/^[A-Z][a-z]+ .{1,56}[^.\s]$/);
      expect(
        tags.some((tag) => ['ssh', 'http', 'tls', 'database', 'misconfig'].includes(tag)),
        id,
      ).toBe(true);
    }
  });

  it('do not share ids with other checks', async () => {
    const { checkIds } = await import('../../knowledge/checks/all.ts');
    const { weaknessTexts } = await import('../../knowledge/tls/weakness-texts.ts');
    const taken = new Set([...checkIds, ...Object.keys(weaknessTexts)]);
    expect(shipped.filter(({ id }) => taken.has(id))).toEqual([]);
  });
});
