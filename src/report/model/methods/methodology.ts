import type { PacketRate } from '../../../domain/packet-rate.ts';
import type { ScanRequest, StageRecord } from '../../../domain/scan.ts';
import { generator } from '../../../workspace/render/generator.ts';
import type { ReportFacts } from '../../report-facts.ts';
import { oneLine } from '../bounded.ts';
import type { ReportChanges } from '../changes.ts';
import type { Methodology } from '../report.ts';
import { dateTimeText, numberText, secondsText, timeSpanText } from '../report-text.ts';
import { repeatCommand } from './repeat-command.ts';

/** Modules of the report. */
const maxModules = 200;
/** Plugins of the report. */
const maxPlugins = 200;
/** Targets that the report names. */
const maxNamedTargets = 50;
/** Longest value of a setting, characters. */
const maxValueLength = 2000;

/** What the settings are made of besides the facts. */
export interface MethodInput {
  changes: ReportChanges | null;
  /** An earlier scan was given, but partial results compare with nothing. */
  incomparable: boolean;
  /** Whether the findings of known flaws have EPSS scores; null without such findings. */
  epss: boolean | null;
}

export function methodologyOf(facts: ReportFacts, input: MethodInput): Methodology {
  return {
    settings: settingsOf(facts, input),
    modules: facts.stages.slice(0, maxModules).map(moduleLine),
    plugins: (facts.request?.plugins ?? []).slice(0, maxPlugins).map(({ file }) => ({
      name: file.name,
      version: file.version,
      kind: file.kind,
      sha256: file.sha256,
    })),
    limits,
    notice: noticeOf(facts.summary.catalogue_version),
  };
}

const limits =
  'A version is what a service says about itself. A scan from one place sees what that place may see. ' +
  'What stands behind a login was not looked at. No finding does not mean no weakness: Coverage says what was looked at.';

/** Wording required by NVD where its data is shown, and credit for FIRST. */
function noticeOf(catalog: string): string {
  if (!String(catalog).includes('+vulndb@')) return '';
  return 'This product uses data from the NVD API but is not endorsed or certified by the NVD. EPSS scores come from FIRST.';
}

type Setting = Methodology['settings'][number];

function settingsOf(facts: ReportFacts, { changes, incomparable, epss }: MethodInput): Setting[] {
  const { request } = facts;
  const settings: (Setting | null)[] = [
    request && plain('Profile', profileText(request)),
    mono('Targets', listed(request?.targets ?? facts.targets)),
    request && request.exclude.length > 0 ? mono('Excluded', listed(request.exclude)) : null,
    request &&
      (request.ports === null ? plain('Ports', 'those of the profile') : mono('Ports', request.ports)),
    request?.options?.exclude_ports ? mono('Ports left out', request.options.exclude_ports) : null,
    request && plain('Rate', rateText(request.rate)),
    plain('Times', timesText(facts)),
    plain('Program', `${generator.name} ${generator.version}`),
    plain('Catalog', catalogText(facts.summary.catalogue_version, epss)),
    changes && plain('Compared with', `${changes.against} of ${dateTimeText(changes.at)}`),
    incomparable ? plain('Compared with', 'nothing: the results are partial') : null,
    request && mono('Command', repeatCommand(request)),
  ];
  return settings.filter((setting) => setting !== null);
}

function rateText(rate: PacketRate): string {
  return rate === 'auto' ? 'as the targets bear' : `at most ${numberText(rate)} packets/s`;
}

function plain(label: string, value: string): Setting {
  return { label, value: oneLine(value, maxValueLength), mono: false };
}

function mono(label: string, value: string): Setting {
  return { label, value: oneLine(value, maxValueLength), mono: true };
}

function listed(items: readonly string[]): string {
  const more = items.length - maxNamedTargets;
  const named = items.slice(0, maxNamedTargets).join(', ');
  return more > 0 ? `${named} and ${numberText(more)} more` : named;
}

/** `standard, with findings, compliance cis, intrusive checks` */
function profileText({ profile, dag, vuln, options }: ScanRequest): string {
  const parts = [
    dag === null ? profile : `graph ${dag}`,
    vuln ? 'with findings' : 'without findings',
    options?.compliance?.length ? `compliance ${options.compliance.join(', ')}` : '',
    options?.intrusive ? 'with intrusive checks' : '',
    options?.min_severity ? `findings from ${options.min_severity}` : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

function catalogText(version: string, epss: boolean | null): string {
  return epss === false ? `${version}, without EPSS scores` : String(version);
}

/** `Nov 21, 2026, 14:14:18 to 14:23:10 UTC, 8 min 52 s; discovery 9 s, ports 5 min 21 s` */
function timesText({ startedAt, completedAt, timestamp, summary, stages }: ReportFacts): string {
  const end = completedAt ?? timestamp;
  const span = startedAt === null ? `until ${dateTimeText(end)}` : timeSpanText(startedAt, end);
  const phases = phaseTimes(stages).map(({ phase, seconds }) => `${phase} ${secondsText(seconds)}`);
  const whole = `${span}, ${secondsText(summary.duration_seconds)}`;
  return phases.length === 0 ? whole : `${whole}; ${phases.join(', ')}`;
}

/** Phases of a scan by the names of their modules, which end in their kind. */
const phases: readonly (readonly [string, RegExp])[] = [
  ['discovery', /_discovery$/],
  ['ports', /_scanner$/],
  ['services', /(?:_grabber|_parser|_fingerprinter|fingerprint_coordinator)$/],
  ['evaluation', /(?:_matcher|_checker|_evaluator)$/],
];

/** From the start of the first to the end of the last module of each phase; phases overlap. */
export function phaseTimes(stages: readonly StageRecord[]): { phase: string; seconds: number }[] {
  return phases.flatMap(([phase, pattern]) => {
    const times = stages
      .filter(({ module_type, status }) => pattern.test(module_type) && status !== 'skipped')
      .map(({ started_at, completed_at }) => [Date.parse(started_at ?? ''), Date.parse(completed_at ?? '')])
      .filter((pair) => !pair.some(Number.isNaN)) as [number, number][];
    if (times.length === 0) return [];
    const start = times.reduce((first, [from]) => Math.min(first, from), Number.POSITIVE_INFINITY);
    const end = times.reduce((last, [, to]) => Math.max(last, to), 0);
    return [{ phase, seconds: Math.max(0, end - start) / 1000 }];
  });
}

function moduleLine(stage: StageRecord): Methodology['modules'][number] {
  const { module_type, version, status, items_in, items_out, error, started_at, completed_at } = stage;
  const seconds = (Date.parse(completed_at ?? '') - Date.parse(started_at ?? '')) / 1000;
  return {
    module_type,
    version: version ?? null,
    status,
    items_in,
    items_out,
    error: error === null || error === undefined ? null : oneLine(error, maxValueLength),
    seconds: Number.isFinite(seconds) && seconds >= 0 ? seconds : null,
  };
}
