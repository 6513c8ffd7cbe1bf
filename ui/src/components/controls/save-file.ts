import { download } from '../../api/download.ts';
import { toast } from './toasts.tsx';

/** Saves a file of the API and says how that went: reports take a moment. @param path with its search */
export function saveFile(path: string): void {
  const done = toast('Preparing the file…', { tone: 'running' });
  download(path)
    .then(
      (name) => toast(`Saved ${name}.`),
      (error: Error) => toast(`No file: ${error.message}`, { tone: 'problem' }),
    )
    .finally(done);
}

/** A scan in one of the formats of its export. */
export function saveExport(scanId: string, format: string): void {
  saveFile(`/api/v1/workspace/scans/${scanId}/export?format=${format}`);
}
