import { Menu } from '../../components/controls/menu.tsx';
import { saveExport } from '../../components/controls/save-file.ts';

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
  return (
    <Menu
      label="Export"
      icon="download"
      wordy
      items={formats.map(({ id, label }) => ({ label, onSelect: () => saveExport(scanId, id) }))}
    />
  );
}
