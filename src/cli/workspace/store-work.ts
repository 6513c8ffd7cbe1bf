import { type MoveProgress, type MoveReport, migrateStore } from '../../actions/workspace/migrate-store.ts';
import type { Config } from '../../config/schema.ts';
import { isPostgresUrl } from '../../store/postgres/postgres-url.ts';
import { openWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { recordChange } from '../access/audit-change.ts';
import { readConfig } from '../session/session.ts';
import { countText } from '../terminal/draw/amounts.ts';
import { drawTable } from '../terminal/draw/columns.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import { styleOf, type TerminalStyle } from '../terminal/draw/style.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';

export interface StoreMigrateFlags {
  to: string;
  from?: string;
  format: string;
}

/** Minimum interval between redraws of the progress, milliseconds. */
const redrawMs = 200;

export async function migrateStoreCommand(flags: StoreMigrateFlags, global: GlobalFlags): Promise<void> {
  const { config } = await readConfig(global);
  if (!config.workspace.enabled) throw usage('a store needs a workspace: omit --no-workspace');
  const places = placesOf(flags, config);
  const workspace = await openWorkspace(config.workspace.dir);
  const [source = workspace.storeFile, target = workspace.storeFile] = places;
  const line = new ProgressLine(process.stderr.isTTY === true && !global.quiet);
  const move = async () => {
    try {
      return await migrateStore({ workspace, source, target, onProgress: (progress) => line.show(progress) });
    } finally {
      line.end();
    }
  };
  const report = await recordChange({ config, workspace }, { operation: 'store.migrate' }, move, (moved) => ({
    details: { from: moved.from, to: moved.to },
  }));
  print(
    flags.format === 'json' ? printableJson(report) : reportText(report, styleOf(process.stdout, global)),
  );
  if (!global.quiet) adviseNext(report, workspace);
}

/** Source and target; undefined = the file of the workspace. */
function placesOf({ to, from }: StoreMigrateFlags, config: Config): [string | undefined, string | undefined] {
  if (isPostgresUrl(to)) {
    if (from !== undefined)
      throw usage('--from requires --to sqlite:; --to postgres:// reads the file of the workspace');
    return [undefined, to];
  }
  if (to !== 'sqlite:') throw usage(`--to must be postgres://… or sqlite:, not ${printable(to)}`);
  const database = from ?? config.queue.url;
  if (database === null) throw usage('specify the database with --from, or set queue.url');
  if (!isPostgresUrl(database)) throw usage('--from must be postgres://…');
  return [database, undefined];
}

function reportText({ tables, from, to }: MoveReport, style: TerminalStyle): string {
  const total = tables.reduce((sum, { rows }) => sum + rows, 0);
  const copied = drawTable(
    [
      { head: 'TABLE', cell: ({ table }) => table },
      { head: 'ROWS', cell: ({ rows }) => rows },
      { head: 'SHA-256', cell: ({ sha256 }) => sha256.slice(0, 16) },
    ],
    tables,
    style,
  );
  return `${copied}${countText(total, 'row')} copied and verified: ${printable(from)} -> ${printable(to)}\n`;
}

function adviseNext({ to, elsewhere }: MoveReport, workspace: Workspace): void {
  if (elsewhere > 0)
    note(
      `the results of ${countText(elsewhere, 'scan')} are in the workspaces of other servers; copy their folders from scans/`,
    );
  if (isPostgresUrl(to)) note('now set queue.url to the database; the old file is unchanged');
  else note(`now remove queue.url from the configuration; the store is ${printable(workspace.storeFile)}`);
}

/** Progress in one line, redrawn in place. */
class ProgressLine {
  readonly #isShown: boolean;
  #drawnAt = Number.NEGATIVE_INFINITY;

  constructor(isShown: boolean) {
    this.#isShown = isShown;
  }

  show({ table, step, rows, total }: MoveProgress): void {
    const now = performance.now();
    if (!this.#isShown || now - this.#drawnAt < redrawMs) return;
    this.#drawnAt = now;
    process.stderr.write(
      `\r\x1b[2K${step === 'copy' ? 'copying' : 'verifying'} ${table}: ${rows} of ${total}`,
    );
  }

  end(): void {
    if (this.#isShown && Number.isFinite(this.#drawnAt)) process.stderr.write('\r\x1b[2K');
  }
}
