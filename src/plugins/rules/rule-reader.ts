import { isAlias, visit } from 'yaml';
import { type FieldProblem, PortolanError } from '../../domain/errors.ts';
import { SafeYaml } from '../../engine/graph/safe-yaml.ts';
import type { EvaluationRule } from '../../knowledge/evaluation-rules/rule.ts';
import { RuleForm } from './rule-form.ts';

/** Maximum size of a rule file, bytes. */
export const maxRuleFileBytes = 512 * 1024;
/** Maximum number of rules of one file. */
export const maxRulesPerFile = 500;
/** Maximum number of problems in an error's message; the error's details list all. */
const maxNamed = 20;

/**
 * Reads the rules of a file, one per YAML document. A file with a problem is rejected as a whole.
 *
 * @param file only named in errors
 * @throws PortolanError `configuration` with every problem as `file:line: field: reason`
 */
export function readRules(text: string, file: string): EvaluationRule[] {
  const problems: FieldProblem[] = [];
  const rules: EvaluationRule[] = [];
  const lines = new Map<string, number>();
  for (const document of documentsOf(text, file)) {
    const issue = (field: string, reason: string, node: unknown) =>
      problems.push({ field: `${file}:${document.placeOf(node).line}`, reason: `${field}${reason}` });
    for (const { message, line } of document.problems)
      problems.push({ field: `${file}:${line}`, reason: message });
    const { root } = document;
    if (root === null) continue;
    const before = problems.length;
    visit(root, (_key, node) => {
      if (isAlias(node)) issue('', 'aliases are not supported; write out the value', node);
    });
    const rule =
      problems.length > before
        ? null
        : new RuleForm(root, (field, reason, node) => issue(`${field}: `, reason, node)).read();
    if (rule === null) continue;
    const first = lines.get(rule.id);
    const { line } = document.placeOf(root);
    if (first !== undefined) issue('id: ', `${rule.id} is already the id of the rule in line ${first}`, root);
    lines.set(rule.id, line);
    rules.push(rule);
  }
  if (problems.length > 0) throw rejection(file, problems);
  return rules;
}

function documentsOf(text: string, file: string): SafeYaml[] {
  const parts = Buffer.byteLength(text) > maxRuleFileBytes ? [{ text, linesBefore: 0 }] : partsOf(text);
  if (parts.length > maxRulesPerFile) {
    const [excess] = parts.slice(maxRulesPerFile);
    const field = `${file}:${(excess?.linesBefore ?? 0) + 1}`;
    throw rejection(file, [{ field, reason: `the file has more than ${maxRulesPerFile} rules` }]);
  }
  return parts.map(
    (part) =>
      new SafeYaml(part.text, maxRuleFileBytes, 'the keys of a rule', { linesBefore: part.linesBefore }),
  );
}

interface DocumentPart {
  text: string;
  linesBefore: number;
}

/**
 * The documents of a YAML stream: three dashes at the start of a line separate them, even within a quoted text (YAML
 * 1.2, 9.1.2). Parts without content are left out.
 */
function partsOf(text: string): DocumentPart[] {
  const parts: DocumentPart[] = [];
  let lines: string[] = [];
  let linesBefore = 0;
  const end = () => {
    if (lines.some((line) => /^\s*[^#\s]/.test(line))) parts.push({ text: lines.join('\n'), linesBefore });
    linesBefore += lines.length;
    lines = [];
  };
  for (const line of text.split('\n')) {
    if (!/^(?:---|\.\.\.)(?:\s|$)/.test(line)) {
      lines.push(line);
      continue;
    }
    end();
    // The separator stays, so that a directive or a value after it is judged by the parser.
    lines.push(line.startsWith('...') || /^---\s*$/.test(line) ? '' : line);
  }
  end();
  return parts.length > 0 ? parts : [{ text: '', linesBefore: 0 }];
}

function rejection(file: string, problems: FieldProblem[]): PortolanError {
  const shown = problems.slice(0, maxNamed).map(({ field, reason }) => `${field}: ${reason}`);
  const more = problems.length - shown.length;
  if (more > 0) shown.push(`and ${more} more`);
  return new PortolanError('configuration', `evaluation rules rejected: ${shown.join('; ')}`, {
    file,
    fields: problems,
  });
}
