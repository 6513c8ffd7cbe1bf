import { type ConfigData, HtmlValidate, StaticConfigLoader } from 'html-validate/browser';

/** The HTML standard, not a style of writing it. */
const rules: ConfigData = { root: true, extends: ['html-validate:standard'] };

const validator = new HtmlValidate(new StaticConfigLoader(rules));

/** What an HTML validator finds in a page, at most ten: `12:3 close-order: …`. */
export async function htmlFaults(page: string): Promise<string[]> {
  const { results } = await validator.validateString(page);
  return results
    .flatMap(({ messages }) => messages)
    .slice(0, 10)
    .map(({ line, column, ruleId, message }) => `${line}:${column} ${ruleId}: ${message}`);
}
