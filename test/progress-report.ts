import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** A line of the file that `PORTOLAN_TEST_PROGRESS` names. */
export interface ProgressLine {
  event: 'began' | 'ended';
  file: string;
  /** Epoch milliseconds. */
  at: number;
}

/**
 * Notes each test file as it begins and ends, so that a run that is cut off still tells what it was waiting for and
 * where its time went. Without `PORTOLAN_TEST_PROGRESS` it does nothing.
 */
export default class ProgressReport implements Reporter {
  readonly #file = process.env.PORTOLAN_TEST_PROGRESS;

  onTestModuleStart(module: TestModule): void {
    this.#note('began', module);
  }

  onTestModuleEnd(module: TestModule): void {
    this.#note('ended', module);
  }

  #note(event: ProgressLine['event'], module: TestModule): void {
    if (this.#file === undefined) return;
    const line: ProgressLine = { event, file: relative(process.cwd(), module.moduleId), at: Date.now() };
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
  }
}
