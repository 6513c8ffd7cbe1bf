import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { installedFolders, listInstalled, readInstalled } from '../../engine/graph/installed-files.ts';
import type { EvaluationRule } from '../../knowledge/evaluation-rules/rule.ts';
import { RuleSet } from '../../knowledge/evaluation-rules/rule-set.ts';
import type { PluginFile } from '../../plugins/plugin.ts';
import { rulesOfPlugin } from '../../plugins/rules/plugin-rules.ts';
import { maxRuleFileBytes, readRules } from '../../plugins/rules/rule-reader.ts';
import { shippedRulesDir } from '../../plugins/rules/shipped-rules.ts';
import { AcceptedRules } from './accepted-rules.ts';

/** Maximum number of rules of a scan: each is evaluated for every port. */
const maxRules = 5000;

export interface LoadedRules {
  set: RuleSet;
  /** Why files were rejected, or what they contain without effect; for people. */
  problems: string[];
}

interface RuleSources {
  /** Loaded plugins of kind rules. */
  plugins?: readonly PluginFile[];
  shippedDir?: string;
  env?: NodeJS.ProcessEnv;
}

/**
 * Every declarative rule in force: the shipped ones, those of the folders of the system, the user and the workspace,
 * and those of plugins. A rejected file is reported; where it was read before, its rules of then hold.
 */
export async function loadRules(
  config: Pick<Config, 'workspace'>,
  { plugins = [], shippedDir = shippedRulesDir, env = process.env }: RuleSources = {},
): Promise<LoadedRules> {
  const workspaceDir = config.workspace.enabled ? config.workspace.dir : null;
  const accepted = workspaceDir === null ? null : new AcceptedRules(join(workspaceDir, 'cache', 'rules'));
  const collection = new RuleCollection();
  for (const file of (await listInstalled(shippedDir)).files) {
    collection.add(file, readRules(await readInstalled(file, maxRuleFileBytes), file));
  }
  for (const { dir } of installedFolders(workspaceDir, env).rules) {
    const { files, problems } = await listInstalled(dir);
    collection.problems.push(...problems);
    for (const file of files) await addFile(collection, file, accepted);
  }
  for (const plugin of plugins) await addPlugin(collection, plugin);
  return { set: new RuleSet(collection.rules), problems: collection.problems };
}

async function addFile(
  collection: RuleCollection,
  file: string,
  accepted: AcceptedRules | null,
): Promise<void> {
  try {
    const text = await readInstalled(file, maxRuleFileBytes);
    collection.add(file, readRules(text, file));
    await accepted?.save(file, text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const before = await accepted?.restore(file);
    collection.problems.push(before ? `${reason}; the rules that this file had before hold` : reason);
    if (before) collection.tryAdd(file, before);
  }
}

/** Hash and content were checked when it was loaded: nothing else can hold in its place. */
async function addPlugin(collection: RuleCollection, plugin: PluginFile): Promise<void> {
  const name = `plugin ${plugin.name} ${plugin.version}`;
  try {
    collection.add(name, await rulesOfPlugin(plugin));
  } catch (error) {
    collection.problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Collects rules with unique ids: a file with the id of another one is rejected. */
class RuleCollection {
  readonly rules: EvaluationRule[] = [];
  readonly problems: string[] = [];
  /** Files by id. */
  readonly #files = new Map<string, string>();

  /** @throws Error */
  add(file: string, rules: readonly EvaluationRule[]): void {
    for (const { id } of rules) {
      const other = this.#files.get(id);
      if (other !== undefined)
        throw new Error(`evaluation rules rejected: ${file}: ${id} is already a rule of ${other}`);
    }
    if (this.rules.length + rules.length > maxRules)
      throw new Error(`evaluation rules rejected: ${file}: more than ${maxRules} rules in all`);
    for (const rule of rules) {
      this.#files.set(rule.id, file);
      this.rules.push(rule);
      if (rule.type !== 'evaluation')
        this.problems.push(
          `${file}: ${rule.id} has the type ${rule.type}, which this version does not evaluate`,
        );
    }
  }

  tryAdd(file: string, rules: readonly EvaluationRule[]): void {
    try {
      this.add(file, rules);
    } catch (error) {
      this.problems.push(error instanceof Error ? error.message : String(error));
    }
  }
}
