import { download } from '../../api/download.ts';
import { toast } from './toasts.tsx';

/** Saves a file of the API and says how that went: reports take a moment. @param path with its search */
export function saveFile(path: string): void {
  toast('Preparing the file…');
  download(path).then(
    (name) => toast(`${name} is saved.`),
    (error: Error) => toast(`No file: ${error.message}`, { tone: 'problem' }),
  );
}

/** A scan in one of the formats of its export. */
export function saveExport(scanId: string, format: string): void {
  saveFile(`/api/v1/workspace/scans/${scanId}/export?format=${format}`);
}
