import type { ReactNode } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { Button } from '../../components/controls/button.tsx';
import { Note } from '../../components/layout/note.tsx';

interface Props {
  error: ApiError;
  /** Gives up the changes. */
  onReload(): void;
  onOverwrite(): void;
}

/** Why a text was not saved. It stays in the field. */
export function SaveProblem({ error, onReload, onOverwrite }: Props): ReactNode {
  const isConflict = error.status === 409 || error.status === 412;
  return (
    <div className="mb-3">
      <Note
        tone="problem"
        title={
          isConflict
            ? 'Not saved: somebody else has changed it meanwhile, or the name is taken.'
            : 'Not saved'
        }
        actions={
          isConflict && (
            <>
              <Button size="small" onClick={onReload}>
                Load theirs
              </Button>
              <Button size="small" variant="danger" onClick={onOverwrite}>
                Replace theirs
              </Button>
            </>
          )
        }
      >
        {error.message} Your text is still here.
      </Note>
    </div>
  );
}
