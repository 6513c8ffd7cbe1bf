import { Button } from '../../components/controls/button.tsx';
import { saveFile } from '../../components/controls/save-file.ts';
import { CopyButton } from '../../components/text/copy-button.tsx';
import { useScan } from './use-scan.ts';

/** The detail as the API sends it, and the whole result to save. */
export default function RawTab() {
  const { data: scan, scanId } = useScan();
  if (!scan) return null;
  const text = JSON.stringify(scan, null, 2);
  const save = (format: string) => saveFile(`/api/v1/scans/${scanId}/results?format=${format}`);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <p className="text-text-2">
          This scan as the API describes it. Hosts, services and findings are in the files.
        </p>
        <span className="grow" />
        <CopyButton text={text} label="Copy" wordy />
        <Button icon="download" onClick={() => save('json')}>
          Results as JSON
        </Button>
        <Button icon="download" onClick={() => save('jsonl')}>
          JSON Lines
        </Button>
      </div>
      <pre
        className="mono max-h-[70vh] overflow-auto rounded-m border border-line bg-code-bg p-3"
        // Scrolls by keyboard.
        tabIndex={0}
        aria-label="Detail as JSON"
      >
        {text}
      </pre>
    </div>
  );
}
