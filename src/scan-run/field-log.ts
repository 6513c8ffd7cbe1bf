import type { Logger } from '../engine/module.ts';

type Details = Record<string, unknown>;

/** A log whose lines all have certain fields. */
export class FieldLog implements Logger {
  readonly #output: Logger;
  fields: object;

  constructor(output: Logger, fields: object) {
    this.#output = output;
    this.fields = fields;
  }

  debug(message: string, details: Details = {}): void {
    this.#output.debug(message, { ...this.fields, ...details });
  }

  info(message: string, details: Details = {}): void {
    this.#output.info(message, { ...this.fields, ...details });
  }

  warn(message: string, details: Details = {}): void {
    this.#output.warn(message, { ...this.fields, ...details });
  }

  error(message: string, details: Details = {}): void {
    this.#output.error(message, { ...this.fields, ...details });
  }
}
