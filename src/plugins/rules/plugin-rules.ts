import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';
import type { EvaluationRule } from '../../knowledge/evaluation-rules/rule.ts';
import { manifestFile } from '../manifest.ts';
import type { PluginFile } from '../plugin.ts';
import { readRules } from './rule-reader.ts';

/**
 * The rules of a plugin of kind `rules`: those of its entry and of the YAML files beside it. Each names the plugin.
 * @throws PortolanError `configuration` with file, line and field of every problem
 */
export async function rulesOfPlugin(plugin: PluginFile): Promise<EvaluationRule[]> {
  const { name, version, sha256, folder, entry } = plugin;
  const beside = await readdir(join(folder, dirname(entry)), { withFileTypes: true });
  const paths = beside.filter((item) => item.isFile()).map((item) => join(dirname(entry), item.name));
  const contents = new Map<string, Buffer>();
  for (const path of ruleFiles(paths, entry)) contents.set(path, await readFile(join(folder, path)));
  const producer = { name, version, sha256 };
  return rulesOfContents(contents, entry).map((rule) => ({ ...rule, producer }));
}

/**
 * The rules among the files of a package.
 * @param contents by path
 * @throws PortolanError `configuration`
 */
export function rulesOfContents(contents: ReadonlyMap<string, Buffer>, entry: string): EvaluationRule[] {
  const rules: EvaluationRule[] = [];
  const ids = new Set<string>();
  for (const path of ruleFiles([...contents.keys()], entry)) {
    const read = readRules(contents.get(path)?.toString('utf8') ?? '', path);
    const twice = read.find(({ id }) => ids.has(id));
    if (twice) {
      const reason = `${path}: ${twice.id} is already the id of another rule of the plugin`;
      throw new PortolanError('configuration', `evaluation rules rejected: ${reason}`);
    }
    for (const { id } of read) ids.add(id);
    rules.push(...read);
  }
  return rules;
}

/** The entry first, then the other YAML files of its folder. */
function ruleFiles(paths: readonly string[], entry: string): string[] {
  const first = normalize(entry);
  const others = paths.filter(
    (path) =>
      dirname(path) === dirname(first) && /\.ya?ml$/.test(path) && path !== manifestFile && path !== first,
  );
  return [first, ...others.sort()];
}
