import type { ComplianceRow } from '../../../domain/result.ts';
import { BoundedMap, DistinctCount, oneLine } from '../bounded.ts';
import type { ControlLine, FrameworkResult } from '../report.ts';

/** Frameworks in a report. */
const maxFrameworks = 50;
/** Controls of one framework in a report. */
const maxControls = 500;
/** Failed hosts that are named of one control. */
const maxFailed = 50;
/** Hosts of one control that are counted separately if they fail in several ways. */
const maxFailedHosts = 20_000;
/** Longest title, reason or description, characters. */
const maxTextLength = 300;
/** Longest name of a framework or control, characters. */
const maxNameLength = 60;

interface CountedControl {
  line: ControlLine;
  failedHosts: DistinctCount;
  /** The row without a host: it holds for all. */
  nowhere: boolean;
}

interface CountedFramework {
  framework: string;
  controls: BoundedMap<CountedControl>;
  left: DistinctCount;
}

/** Results of all controls. */
export class ComplianceSums {
  readonly #frameworks = new BoundedMap<CountedFramework>(maxFrameworks);

  add(row: ComplianceRow): void {
    const framework = oneLine(String(row.framework), maxNameLength);
    const counted = this.#frameworks.at(framework, () => ({
      framework,
      controls: new BoundedMap(maxControls),
      left: new DistinctCount(maxControls),
    }));
    if (!counted) return;
    const name = oneLine(String(row.control), maxNameLength);
    const control = counted.controls.at(name, () => newControl(name, row));
    if (control) addRow(control, row);
    else counted.left.add(name);
  }

  /** @param hosts all hosts of the report */
  finish(hosts: number): FrameworkResult[] {
    return this.#frameworks
      .values()
      .sort((a, b) => byNumber.compare(a.framework, b.framework))
      .map(({ framework, controls, left }) => ({
        framework,
        controls: controls
          .values()
          .map((control) => finishedLine(control, hosts))
          .sort((a, b) => byNumber.compare(a.control, b.control)),
        controlsLeft: left.count,
      }));
  }
}

/** Created once: `localeCompare` with options takes ten times as long. */
const byNumber = new Intl.Collator('en', { numeric: true });

function newControl(control: string, { title }: ComplianceRow): CountedControl {
  return {
    line: {
      control,
      title: oneLine(String(title ?? ''), maxTextLength),
      fail: 0,
      pass: 0,
      notAssessed: 0,
      reason: null,
      failed: [],
    },
    failedHosts: new DistinctCount(maxFailedHosts),
    nowhere: false,
  };
}

function addRow(control: CountedControl, { host, port, status, description }: ComplianceRow): void {
  const { line } = control;
  const text = oneLine(String(description ?? ''), maxTextLength);
  if (host === null || host === undefined) {
    control.nowhere = true;
    line.reason = text;
  } else if (status === 'pass') line.pass += 1;
  else if (status === 'not_assessed') line.notAssessed += 1;
  else if (status === 'fail') {
    if (control.failedHosts.add(host)) line.fail += 1;
    if (line.failed.length < maxFailed) line.failed.push({ host, port: port ?? null, text });
  }
}

function finishedLine({ line, nowhere }: CountedControl, hosts: number): ControlLine {
  if (nowhere) line.notAssessed = Math.max(line.notAssessed, hosts - line.fail - line.pass);
  return line;
}
