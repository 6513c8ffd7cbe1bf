import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';
import type { EvaluationRule } from '../../knowledge/evaluation-rules/rule.ts';
import { manifestFile } from '../manifest.ts';
import type { PluginFile } from '../plugin.ts';
import { readRules } from './rule-reader.ts';

/** Module type that evaluates the rules of plugins. */
export const rulesModule = 'rule_evaluator';

/**
 * The rules of a plugin of kind `rules`: those of its entry and of the YAML files beside it. Each names the plugin.
 * @throws PortolanError `configuration` with file, line and field of every problem
 */
export async function rulesOfPlugin(plugin: PluginFile): Promise<EvaluationRule[]> {
  const { name, version, sha256, folder, entry } = plugin;
  const producer = { name, version, sha256 };
  const rules: EvaluationRule[] = [];
  for (const path of await filesOf(folder, entry)) {
    const read = readRules(await readFile(join(folder, path), 'utf8'), path);
    const ids = new Set(rules.map(({ id }) => id));
    const twice = read.find(({ id }) => ids.has(id));
    if (twice) {
      const reason = `${path}: ${twice.id} is already the id of another rule of the plugin`;
      throw new PortolanError('configuration', `evaluation rules rejected: ${reason}`);
    }
    rules.push(...read.map((rule) => ({ ...rule, producer })));
  }
  return rules;
}

/** The entry first. */
async function filesOf(folder: string, entry: string): Promise<string[]> {
  const beside = await readdir(join(folder, dirname(entry)), { withFileTypes: true });
  const paths = beside.filter((item) => item.isFile()).map(({ name }) => join(dirname(entry), name));
  const others = paths.filter((path) => /\.ya?ml$/.test(path) && path !== manifestFile && path !== entry);
  return [entry, ...others.sort()];
}
