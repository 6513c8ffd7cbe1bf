/**
 * Writes the pages of docs/ and the example configuration, which follow from the sources: `npm run docs`. A test
 * compares them with what this file would write, so that they cannot grow stale.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { amountText, byFolder, internalLimits } from './internal-limits.ts';
import { withItemTypes } from './sdk-types.ts';
import { type NmapFlag, nmapGroups } from './src/cli/scan/nmap/nmap-flags.ts';
import { renderExample } from './src/config/example.ts';
import {
  type ConfigKey,
  type ConfigMember,
  configKeys,
  environmentNames,
  isReloadable,
} from './src/config/schema.ts';
import { errorCatalog } from './src/domain/errors.ts';
import { queryFieldNames, queryFields, type TextMatch } from './src/domain/query/query-fields.ts';
import { failureCodes } from './src/domain/scan.ts';
import { formatDuration } from './src/domain/time/duration.ts';
import { checkFamilies } from './src/knowledge/checks/all.ts';
import type { Check } from './src/knowledge/checks/check.ts';
import { versionDisclosure } from './src/knowledge/checks/version-disclosure.ts';
import type { Control } from './src/knowledge/compliance/control.ts';
import { controls, unseenOf } from './src/knowledge/compliance/evaluate.ts';
import { operatorsOf, ruleFields } from './src/knowledge/evaluation-rules/fields.ts';
import { readRules } from './src/plugins/rules/rule-reader.ts';
import { metricCatalog } from './src/server/metrics/catalog.ts';
import { processAcrossServers, processMetrics } from './src/server/metrics/process-metrics.ts';
import { userLimitRows } from './user-limits.ts';

/** A page that is written by hand, with a table in it that follows from the sources. */
const monitoringPage = join(import.meta.dirname, 'docs/monitoring.md');
const metricMarks = { from: '<!-- metrics: begin -->\n', to: '<!-- metrics: end -->\n' };

/** Written by hand, with the table of nmap's flags that follows from the sources. */
const nmapPage = join(import.meta.dirname, 'docs/coming-from-nmap.md');
const nmapMarks = { from: '<!-- nmap: begin -->\n', to: '<!-- nmap: end -->\n' };

/** Written by hand, with the types of items that follow from the sources. */
const typesFile = join(import.meta.dirname, 'sdk/types/portolan.d.ts');

/** File -> its text. */
export function renderPages(): Map<string, string> {
  return new Map([
    ['docs/errors.md', errorsPage()],
    ['docs/config.md', configPage()],
    ['docs/checks.md', checksPage()],
    ['docs/queries.md', queriesPage()],
    ['docs/rules.md', rulesPage()],
    ['docs/limits.md', limitsPage()],
    ['docs/internals/limits.md', internalLimitsPage()],
    ['docs/monitoring.md', withMetrics(readFileSync(monitoringPage, 'utf8'))],
    ['docs/coming-from-nmap.md', withNmapFlags(readFileSync(nmapPage, 'utf8'))],
    ['config.example.yaml', renderExample()],
    ['sdk/types/portolan.d.ts', withItemTypes(readFileSync(typesFile, 'utf8'))],
  ]);
}

function errorsPage(): string {
  const entries = Object.entries(errorCatalog);
  const errors = entries.map(([code, { status, exit, meaning }]) => [
    mono(code),
    String(status ?? '-'),
    String(exit),
    meaning,
  ]);
  const exits = [...new Set(entries.map(([, { exit }]) => exit))].toSorted((a, b) => a - b);
  const byExit = exits.map((exit) => [
    String(exit),
    entries.flatMap(([code, entry]) => (entry.exit === exit ? [mono(code)] : [])).join(', '),
  ]);
  const failures = Object.entries(failureCodes).map(([code, meaning]) => [mono(code), meaning]);
  return `${title('Errors', 'src/domain/errors.ts')}
Every error that a person causes or can act on has one code. The API answers with its HTTP status and this shape; the
command line prints the message on stderr and ends with its exit code. Errors without a status never travel over HTTP.

\`\`\`json
{"error": {"code": "not_found", "message": "There is no such scan.", "details": {"request_id": "req_8f3c1a7d20b4"}}}
\`\`\`
\`invalid_request\` lists every problem at once in \`details.fields\` (\`field\`, \`reason\`). With
\`Accept: application/problem+json\` the members of RFC 9457 stand beside \`error\`.

${table(['Code', 'HTTP', 'Exit', 'Meaning'], errors)}
## Exit codes
0 is success and nothing else. Any fault of the program itself ends with 1.

${table(['Exit', 'Errors'], byExit)}
## Why a scan failed
\`error.code\` of a scan with the status \`failed\`; \`portolan scan\` then ends with 7 (\`permission\`: with 5, \`timeout\`: with 6).

${table(['Code', 'Meaning'], failures)}`;
}

/** @throws Error if the page has no marks for the table */
function withNmapFlags(page: string): string {
  const [before = '', rest] = page.split(nmapMarks.from);
  const after = rest?.split(nmapMarks.to)[1];
  if (after === undefined) throw new Error('docs/coming-from-nmap.md has no marks for the table of flags');
  const groups = nmapGroups.map(
    ({ title, rows }) =>
      `### ${title}\n${table(
        ['nmap', 'Here'],
        rows.map((row) => [termsOf(row), row.here]),
      )}`,
  );
  return `${before}${nmapMarks.from}${groups.join('\n')}${nmapMarks.to}${after}`;
}

/** `-oX FILE`, `-Pn`, `-P0` */
function termsOf({ flags, value }: NmapFlag): string {
  return flags.map((flag) => mono(value === undefined ? flag : `${flag} ${value}`)).join(', ');
}

function withMetrics(page: string): string {
  const [before = '', rest] = page.split(metricMarks.from);
  const after = rest?.split(metricMarks.to)[1];
  if (after === undefined) throw new Error('docs/monitoring.md has no marks for the table of metrics');
  const own = Object.entries(metricCatalog).map(([name, { type, help, labels, across }]) => [
    mono(labels.length > 0 ? `${name}{${labels.join(',')}}` : name),
    type,
    help,
    across,
  ]);
  const ofProcess = processMetrics().map(({ name, help, type, labelNames = [] }) => [
    mono(labelNames.length > 0 ? `${name}{${labelNames.join(',')}}` : name),
    type,
    help.replace(/\.?$/, '.'),
    processAcrossServers,
  ]);
  const rows = table(['Name', 'Type', 'Meaning', 'Servers'], [...own, ...ofProcess]);
  return `${before}${metricMarks.from}${rows}${metricMarks.to}${after}`;
}

/** Written by hand, with two tables that follow from the sources. */
function rulesPage(): string {
  const root = import.meta.dirname;
  const page = readFileSync(join(root, 'docs/rules.md'), 'utf8');
  const fields = Object.entries(ruleFields).map(([name, { type, description }]) => [
    mono(name),
    type,
    description,
    operatorsOf[type].map(mono).join(', '),
  ]);
  const rules = readdirSync(join(root, 'rules'))
    .toSorted()
    .flatMap((name) =>
      readRules(readFileSync(join(root, 'rules', name), 'utf8'), name).map((rule) => [
        mono(rule.id),
        rule.severity,
        rule.name,
        rule.remediation,
      ]),
    );
  const withFields = between(page, 'fields', table(['Field', 'Type', 'Meaning', 'Operators'], fields));
  return between(withFields, 'shipped', table(['Id', 'Severity', 'Finding', 'What to do'], rules));
}

/** Written by hand, with the table of fields. */
function queriesPage(): string {
  const page = readFileSync(join(import.meta.dirname, 'docs/queries.md'), 'utf8');
  const fields = queryFieldNames.map((name) => {
    const { kind, match, record, aliases, values, help } = queryFields[name];
    const isText = kind === 'text' || kind === 'state';
    return [
      [name, ...aliases].map(mono).join(', '),
      isText ? `text, ${matchTexts[match]}` : kind,
      record === 'vulnerability' ? 'finding' : record === 'tuple' ? 'each' : record,
      values.length === 0 ? help : `${help}: ${values.map(mono).join(', ')}`,
    ];
  });
  return between(page, 'fields', table(['Field', 'Values', 'Of', 'Meaning'], fields));
}

const matchTexts: Record<TextMatch, string> = { whole: 'whole', words: 'words', part: 'any part' };

/** A page with other text between its two marks. */
function between(page: string, mark: string, text: string): string {
  const [from, to] = [`<!-- ${mark}: begin -->\n`, `<!-- ${mark}: end -->\n`];
  const [before = '', rest = ''] = page.split(from);
  return `${before}${from}${text}${to}${rest.split(to)[1] ?? ''}`;
}

function checksPage(): string {
  const families = Object.entries(checkFamilies).map(
    ([name, checks]) => `## ${name}\n${table(checkTitles, checks.map(checkRow))}`,
  );
  return `${title('Checks', 'src/knowledge/checks/all.ts')}
\`misconfig_checker\` reports services that are open to anyone, talk in clear text, or are set up carelessly. It reads what
\`banner_grabber\` received and sends nothing. Each finding has a stable id, its evidence, a remedy and a confidence.

Select ids with the option \`checks\` (a comma list, default \`all\`). Anonymous FTP needs \`intrusive\`. SNMP, NTP and DNS over UDP need a
graph that hands open UDP ports to \`banner_grabber\`. Names of certificates are checked only for targets given by name.
\`weak_cipher_checker\` evaluates versions, suites and keys of TLS and SSH ([tls.md](tls.md)).

${families.join('\n')}
## From fingerprints
${table(checkTitles, [checkRow(versionDisclosure)])}
# Compliance

\`compliance_evaluator\` (\`scan --compliance cis,pci,nist\`, option \`frameworks\`) evaluates each host against the controls of CIS
Controls 8, PCI DSS 4.0, NIST SP 800-53 revision 5 and SP 800-52 revision 2 that show on the network; titles are paraphrased. Results
have them under \`compliance\`:

| Status | When |
| --- | --- |
| \`fail\` | a finding with a confidence of 0.5 or more fails it, or a forbidden service is reachable; one entry per port, with \`finding_ids\` |
| \`pass\` | services in its scope were seen, every module that it needs checked them in full, and no finding fails it |
| \`not_assessed\` | no service in its scope, a module did not run or skipped checks, or the findings are uncertain; \`description\` has the reason. \`host\` is null if it applies to every host |

A control that passes may still fail an audit: a scan sees the network, not people and documents. \`CVE\` stands for every
vulnerability rated high or critical, or known to be exploited.

${table(['Framework', 'Control', 'Requirement', 'Failed by'], controls.map(controlRow))}
${table(
  ['Framework', 'Control', 'Requirement', 'Why no scan can evaluate it'],
  unseenOf('pci').map(({ framework, control, title: asks, reason }) => [framework, control, asks, reason]),
)}`;
}

const checkTitles = ['Id', 'Severity', 'Finding', 'What to do'];

function checkRow({ id, severity, title: name, remediation }: Omit<Check, 'prove' | 'confidence'>): string[] {
  return [mono(id), severity, name, remediation];
}

function controlRow({ framework, control, title: asks, findings, forbidden = [] }: Control): string[] {
  const services = forbidden.length > 0 ? [`the services ${forbidden.join(', ')}`] : [];
  return [framework, control, asks, [...findings.map(mono), ...services].join(', ')];
}

function limitsPage(): string {
  const titles = ['What', 'Limit', 'Beyond it', 'Change it with'];
  const parts = [...userLimitRows()].map(([name, rows]) => `## ${name}\n${table(titles, rows)}`);
  return `${title('Limits', 'user-limits.ts')}
The limits that you may meet. Keys are those of [config.md](config.md), with their defaults; \`-\` is built in.
\`portolan module show NAME\` has the bounds of a module's options, [internals/limits.md](internals/limits.md) every cap of
the program. A report says what it leaves out; JSON and JSONL hold everything.

${parts.join('\n')}`;
}

function internalLimitsPage(): string {
  const folders = [...byFolder(internalLimits())].map(([folder, limits]) => {
    const rows = limits.map(({ file, name, value, comment }) => [
      mono(`${file} ${name}`),
      amountText(name, value),
      comment,
    ]);
    return `## ${folder}\n${table(['Constant', 'Value', 'Meaning'], rows)}`;
  });
  return `# Caps of the program

Made from the constants of \`src/\` and their comments by \`npm run docs\`; change them there. A constant is listed when
its name begins with \`max\`, \`most\`, \`largest\`, \`longest\` or \`highest\`, or ends with \`Limit\`.
[limits.md](../limits.md) has the limits that users meet.

${folders.join('\n')}`;
}

function configPage(): string {
  const sections = Map.groupBy<string, ConfigKey>(configKeys, ({ path }) => path.split('.')[0] as string);
  const parts = [...sections].map(
    ([name, keys]) => `## ${name}\n${table(configTitles, keys.map(configRow))}`,
  );
  return `${title('Configuration', 'src/config/schema.ts')}
Sources, later ones win: defaults, \`/etc/portolan/config.yaml\`, \`$XDG_CONFIG_HOME/portolan/config.yaml\`,
\`config/portolan.yaml\` in the workspace, the file of \`--config\` (else of \`SERVICE_CONFIG\`), environment, flags.
\`portolan config init\` writes [config.example.yaml](../config.example.yaml) with every key, \`config validate\` checks,
\`config show --origin\` prints each value with its source.

- Files are YAML maps (\`scanner: {rate: 500}\`). \`\${NAME}\` and \`\${NAME:-default}\` stand for environment variables. An invalid value
  stops the start with file, line and column; an unknown key is a warning, with \`--strict-config\` an error.
- Environment variables have lists separated by commas, lists of entries and maps as JSON.
- Durations have a unit (\`500ms\`, \`30s\`, \`1h30m\`, \`7d\`) or are 0. Sizes have \`KB\`, \`MB\`, \`GB\`, \`TB\` (powers of 1000) or
  \`KiB\`, \`MiB\`, \`GiB\`, \`TiB\` (of 1024).
- \`server.queue.*\` and \`server.workers.*\` are read as \`queue.*\` and \`workers.*\`; \`server.workers\` may be a number and a map.
- Options of a module: the scan's, else the graph's, else \`modules.<module_type>.<option>\`, else \`scanner\`'s, else the module's default
  (\`portolan module show NAME\`).
- SIGHUP or \`portolan server reload\` applies keys marked *Reloaded*, all or none; running scans get a narrower scope only. The log names
  changed keys that need a restart. Keys marked **No effect in this build yet** give a warning.
- Secrets are never shown; a file with secrets that every user can read gives a warning.

${parts.join('\n')}`;
}

const configTitles = ['Key', 'Type', 'Default', 'Bounds', 'Environment', 'Meaning'];

function configRow(key: ConfigKey): string[] {
  const names = environmentNames(key).map(mono).join(', ');
  const path = key.type === 'options' ? `${key.path}.<module_type>.<option>` : key.path;
  return [mono(path), typeText(key), defaultText(key), boundsText(key), names, meaningText(key)];
}

function meaningText(key: ConfigKey): string {
  const notes = [
    key.inert ? '**No effect in this build yet.**' : isReloadable(key.path) ? '*Reloaded.*' : '',
    ...Object.entries(key.members ?? {}).flatMap(([name, member]) => memberTexts(name, member)),
  ];
  return [key.description, ...notes.filter((note) => note !== '')].join(' ');
}

function memberTexts(name: string, member: ConfigMember): string[] {
  const within = Object.entries(member.members ?? {});
  if (within.length > 0) return within.flatMap(([inner, one]) => memberTexts(`${name}.${inner}`, one));
  const facts = [
    member.description,
    member.required ? 'required' : '',
    member.values ? member.values.map(mono).join(', ') : '',
    typeof member.default === 'object' || (member.default ?? '') === ''
      ? ''
      : `default ${mono(String(member.default))}`,
  ];
  const type = typeNames[member.type] ?? member.type;
  return [`${mono(name)} (${type}): ${facts.filter((fact) => fact !== '').join('; ')}.`];
}

const typeNames: Partial<Record<ConfigKey['type'] | ConfigMember['type'], string>> = {
  'string[]': 'list of texts',
  'int{}': 'map of whole numbers',
  'cidr[]': 'list of addresses, networks and ranges',
  'target[]': 'list of targets',
  'resolver[]': 'list of `address[:port]`',
  'text{}': 'map of texts',
  endpoint: '`host:port`',
  entries: 'list of entries',
  map: 'map of entries by name',
  options: 'any',
};

function typeText({ type, values }: ConfigKey): string {
  return values ? values.map(mono).join(', ') : (typeNames[type] ?? type);
}

function defaultText({ type, default: value }: ConfigKey): string {
  if (value === null || value === '') return 'not set';
  if (Array.isArray(value)) return value.length === 0 ? 'empty' : value.map(mono).join(', ');
  if (type === 'int{}') return 'empty';
  if (typeof value === 'object') return 'as `module show` says';
  return mono(String(value));
}

function boundsText({ type, min, max }: ConfigKey): string {
  if (min === undefined || max === undefined) return '';
  const bound = (value: number) => (type === 'duration' ? formatDuration(value) : value.toLocaleString('en'));
  return `${bound(min)} to ${bound(max)}`;
}

function title(name: string, source: string): string {
  return `# ${name}\n\nMade from [${source}](../${source}) by \`npm run docs\`; change it there.\n`;
}

function table(titles: string[], rows: string[][]): string {
  return [titles, titles.map(() => '---'), ...rows]
    .map((row) => `| ${row.map(cell).join(' | ')} |\n`)
    .join('');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function mono(text: string): string {
  return `\`${text}\``;
}

if (import.meta.main) {
  for (const [name, text] of renderPages()) writeFileSync(join(import.meta.dirname, name), text);
}
