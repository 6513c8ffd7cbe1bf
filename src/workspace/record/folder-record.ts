import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { ResultRow, SummaryRow } from '../../domain/result.ts';
import type { ScanRequest } from '../../domain/scan.ts';
import { ScanFolder } from '../scan-folder.ts';
import { type RunTime, readRunTime } from './checkpoint.ts';
import { recordFiles } from './record-files.ts';
import { FileSource } from './record-source.ts';
import { lastRowOf, tailRecord } from './record-tail.ts';
import { FileView } from './record-view.ts';
import type { NumberedLine, RecordPlace, RecordSource, RecordView, ScanRecord } from './scan-record.ts';

/**
 * The record in the folder of a scan on this machine. For those who know that it is there: the processes that write
 * it, the command line without a server, and `ScanFolders` of the server, which gives records to everybody else.
 */
export function recordIn(folder: Pick<ScanFolder, 'path'>): ScanRecord {
  return new FolderRecord(folder.path);
}

/** The record that another thread has named. */
export function recordAt({ folder }: RecordPlace): ScanRecord {
  return new FolderRecord(folder);
}

class FolderRecord implements ScanRecord {
  readonly #folder: ScanFolder;

  constructor(path: string) {
    this.#folder = new ScanFolder(path);
  }

  get place(): RecordPlace {
    return { folder: this.#folder.path };
  }

  async open(): Promise<RecordView> {
    return await FileView.open(this.#folder.path);
  }

  async source(): Promise<RecordSource | null> {
    return await FileSource.open(this.#folder.path);
  }

  async *rows(): AsyncGenerator<ResultRow> {
    const view = await FileView.open(this.#folder.path);
    try {
      view.tolerateDamage();
      yield* view.rows();
    } finally {
      await view.close();
    }
  }

  async summary(): Promise<SummaryRow | null> {
    const view = await FileView.open(this.#folder.path);
    await view.close();
    return view.summary;
  }

  async rowsAfter(row: number): Promise<{ rows: NumberedLine[]; finished: boolean }> {
    return await tailRecord(this.#folder.path, row);
  }

  async lastRow(): Promise<number> {
    return await lastRowOf(this.#folder.path);
  }

  async plainBytes(): Promise<number> {
    return await stat(recordFiles(this.#folder.path).data).then(
      ({ size }) => size,
      () => 0,
    );
  }

  async runTime(): Promise<RunTime | 'unknown' | null> {
    return await readRunTime(this.#folder);
  }

  async request(): Promise<ScanRequest> {
    return await this.#folder.request();
  }

  async exists(): Promise<boolean> {
    return await this.#folder.exists();
  }

  async isRetired(): Promise<boolean> {
    return await this.#folder.isRetired();
  }

  async archive(damage: string | null): Promise<Readable> {
    // Archives are rare.
    const { archiveScan } = await import('../render/archive.ts');
    return archiveScan(this.#folder, damage);
  }
}
