import { download } from '../../api/download.ts';
import { Menu } from '../../components/controls/menu.tsx';
import { toast } from '../../components/controls/toasts.tsx';

const formats = [
  { id: 'pdf', label: 'PDF report' },
  { id: 'html', label: 'HTML report' },
  { id: 'markdown', label: 'Markdown' },
  { id: 'csv', label: 'CSV, one row per port' },
  { id: 'json', label: 'JSON' },
  { id: 'jsonl', label: 'JSON Lines' },
  { id: 'sarif', label: 'SARIF' },
  { id: 'nmap', label: 'nmap XML' },
  { id: 'tar.gz', label: 'Archive with artifacts (tar.gz)' },
] as const;

/** All exports of a scan. */
export function ExportMenu({ scanId }: { scanId: string }) {
  const save = (format: string) => {
    toast('Preparing the file…');
    download(`/api/v1/workspace/scans/${scanId}/export?format=${format}`).catch((error: Error) =>
      toast(`No file: ${error.message}`),
    );
  };
  return (
    <Menu
      label="Export"
      icon="download"
      wordy
      items={formats.map(({ id, label }) => ({ label, onSelect: () => save(id) }))}
    />
  );
}
