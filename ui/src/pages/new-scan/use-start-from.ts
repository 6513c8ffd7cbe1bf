import { useEffect } from 'react';
import { fetchGet } from '../../api/use-get.ts';
import { toast } from '../../components/controls/toasts.tsx';
import { useSearchParam, useSetSearch } from '../../url/use-search-param.ts';
import { changeDraft, clearDraft, type Draft, draftOf } from './draft.ts';

/** Fills the draft from another scan, or from targets that the URL names. @returns whether it still does */
export function useStartFrom(): boolean {
  const [from] = useSearchParam('from');
  const [targets] = useSearchParam('targets');
  const [discover] = useSearchParam('discover');
  const setSearch = useSetSearch();
  useEffect(() => {
    if (from === '' && targets === '') return;
    const abort = new AbortController();
    const fill = (changes: Partial<Draft>) => {
      if (abort.signal.aborted) return;
      clearDraft();
      changeDraft({ ...changes, ...(discover === 'no' && { discover: false }) });
      setSearch({ from: null, targets: null, discover: null }, { replace: true });
    };
    if (from === '') fill({ targets });
    else
      fetchGet('/api/v1/scans/{scan_id}/request', { path: { scan_id: from } }, abort.signal).then(
        (request) => fill(draftOf(request)),
        (error: Error) => {
          if (abort.signal.aborted) return;
          toast(`The scan cannot be read: ${error.message}`, { tone: 'problem' });
          fill({});
        },
      );
    return () => abort.abort();
  }, [from, targets, discover, setSearch]);
  return from !== '' || targets !== '';
}
