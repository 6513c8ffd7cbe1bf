import { sharePercent } from '../../format/numbers.ts';
import { Note } from '../layout/note.tsx';
import { Progress } from '../layout/progress.tsx';

/**
 * The server prepares a large scan for filters and other orders; what waits for it comes without a further click.
 * @param props.share of the index that stands, 0 to 1
 */
export function BeingIndexed({ share }: { share: number }) {
  return (
    <div className="mb-3">
      <Note title={`The index of this scan is being built: ${sharePercent(share)}`}>
        <div className="max-w-80 py-1.5">
          <Progress
            value={Math.floor(share * 100)}
            max={100}
            label={`${sharePercent(share)} of the index built`}
          />
        </div>
        What is missing here appears when it is ready.
      </Note>
    </div>
  );
}
