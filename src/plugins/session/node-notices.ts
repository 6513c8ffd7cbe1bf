import { visibleText } from '../../domain/text/visible.ts';
import type { ExecContext, Logger } from '../../engine/module.ts';
import type { HostNotice } from '../host/messages.ts';

/** Characters of a log line or warning. */
const maxText = 1000;
/** Characters of the target of a warning. */
const maxTarget = 255;
/** Log lines at once, and per second afterward. */
const burstLines = 100;
const linesPerSecond = 20;
/** Warnings of one node. */
const maxWarnings = 50;
/** Between two progress reports, milliseconds. */
const progressMs = 100;
const codePattern = /^[a-z][a-z0-9_]{0,39}$/;

/** Passes on what a plugin says about its work, capped and escaped. */
export class NodeNotices {
  readonly #plugin: string;
  readonly #log: Logger;
  #lines = burstLines;
  #filledAt = performance.now();
  #dropped = 0;
  #warnings = 0;
  #progressAt = Number.NEGATIVE_INFINITY;

  constructor(plugin: string, log: Logger) {
    this.#plugin = plugin;
    this.#log = log;
  }

  /** @param ctx of the node; null if none runs */
  take(notice: HostNotice, ctx: ExecContext | null): void {
    if (notice.op === 'log') this.#takeLine(notice.level, notice.message);
    else if (ctx && notice.op === 'progress') this.#takeProgress(notice, ctx);
    else if (ctx && notice.op === 'warn') this.#takeWarning(notice, ctx);
  }

  warn(message: string, error: string): void {
    this.#log.warn(message, { plugin: this.#plugin, error });
  }

  /** Reports what the caps dropped. */
  end(): void {
    if (this.#dropped === 0) return;
    this.#log.warn('plugin log lines dropped', { plugin: this.#plugin, lines: this.#dropped });
    this.#dropped = 0;
  }

  #takeLine(level: Extract<HostNotice, { op: 'log' }>['level'], message: string): void {
    const now = performance.now();
    this.#lines = Math.min(burstLines, this.#lines + ((now - this.#filledAt) / 1000) * linesPerSecond);
    this.#filledAt = now;
    if (this.#lines < 1) {
      this.#dropped += 1;
      return;
    }
    this.#lines -= 1;
    this.#log[level](shown(message), { plugin: this.#plugin });
  }

  #takeProgress({ done, total }: Extract<HostNotice, { op: 'progress' }>, ctx: ExecContext): void {
    const now = performance.now();
    if (now - this.#progressAt < progressMs && done !== total) return;
    this.#progressAt = now;
    ctx.progress(done, total);
  }

  /** The code gets a prefix, so that no plugin speaks for the scan. */
  #takeWarning({ code, message, target }: Extract<HostNotice, { op: 'warn' }>, ctx: ExecContext): void {
    this.#warnings += 1;
    if (this.#warnings > maxWarnings) return;
    const name = codePattern.test(code) ? code : 'warning';
    ctx.warn(
      `plugin_${name}`,
      `${this.#plugin}: ${shown(message)}`,
      target === undefined ? undefined : visibleText(target.slice(0, maxTarget)),
    );
  }
}

/** Text of a plugin in one line, cut. */
export function shown(text: string): string {
  const visible = visibleText(text.slice(0, maxText));
  return text.length > maxText ? `${visible}...` : visible;
}
