import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';

/** What a bench prints, and puts between its marks in bench/README.md. */
export class BenchResults {
  readonly #name: string;
  readonly #lines: string[] = [];

  /** @param name of the marks */
  constructor(name: string) {
    this.#name = name;
  }

  print(line = ''): void {
    this.#lines.push(line);
    console.log(line);
  }

  /** Day, machine, and what else runs on it. */
  printOrigin(what: string): void {
    const day = new Date().toISOString().slice(0, 10);
    const load = loadavg()[0]?.toFixed(1);
    this.print(
      `${day}, ${cpus().length} processors, Node ${process.versions.node}, load ${load} before: ${what}.`,
    );
    this.print();
  }

  /** @throws Error for a file without marks */
  write(): void {
    const file = resolve(import.meta.dirname, 'README.md');
    const marks = [`<!-- ${this.#name}: figures begin -->`, `<!-- ${this.#name}: figures end -->`] as const;
    const text = readFileSync(file, 'utf8');
    const [before, rest] = text.split(marks[0]);
    const after = rest?.split(marks[1])[1];
    if (before === undefined || after === undefined) throw new Error(`${file} has no marks`);
    writeFileSync(file, `${before}${marks[0]}\n${this.#lines.join('\n')}\n${marks[1]}${after}`);
  }
}
