import { useParams } from '@tanstack/react-router';
import { type ReactNode, useRef, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { useSend } from '../../api/use-send.ts';
import { toast } from '../../components/controls/toasts.tsx';
import type { EditorHandle } from '../../components/editor/editor-props.ts';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { useCan } from '../../session/session.ts';
import { useGo } from '../../url/link.tsx';
import { useSearchParam } from '../../url/use-search-param.ts';
import { DeleteGraph } from './delete-graph.tsx';
import { type GraphAction, GraphHeader } from './graph-header.tsx';
import { emptyGraph, lineOfNode, nodeText, renamed } from './graph-text.ts';
import { GraphWorkbench } from './graph-workbench.tsx';
import { ifMatch } from './if-match.ts';
import { InsertModule } from './insert-module.tsx';
import { NewFile } from './new-file.tsx';
import { SaveProblem } from './save-problem.tsx';
import { useDraft } from './use-draft.ts';
import { useVerdict } from './use-verdict.ts';

type Graph = Data<'/api/v1/dags/{name}'>;

/** What the page shows: a graph that is there, or one that is not saved yet. */
interface Opened {
  source: string;
  isNew: boolean;
  isEditable: boolean;
  text: string;
}

/** A graph as text with its picture beside it and its problems below; `?from=` begins one that is not there yet. */
export default function GraphPage(): ReactNode {
  const { name = '' } = useParams({ strict: false }) as { name?: string };
  const [from] = useSearchParam('from');
  const source = from === '' ? name : from;
  const got = useGet('/api/v1/dags/{name}', { path: { name: source } }, { enabled: from !== '-' });
  const opened =
    from === '-' ? { ...fresh, text: emptyGraph(name) } : got.data && openedOf(got.data, name, from);
  if (opened !== undefined) return <OpenGraph key={name} name={name} opened={opened} reload={got.refetch} />;
  return (
    <>
      <PageHeader title={name} crumbs={[{ label: 'Graphs', to: '/graphs' }]} />
      <Boundary got={got} what={`The graph ${source}`} doing="see graphs" rows={12}>
        {() => null}
      </Boundary>
    </>
  );
}

function openedOf({ source, editable, text }: Graph, name: string, from: string): Opened {
  if (from !== '') return { ...fresh, text: renamed(text, name) };
  return { source, isNew: false, isEditable: editable, text };
}

const fresh = { source: 'workspace', isNew: true, isEditable: true };

interface OpenProps {
  name: string;
  opened: Opened;
  /** Reads the saved text again. */
  reload(): void;
}

function OpenGraph({ name, opened, reload }: OpenProps): ReactNode {
  const go = useGo();
  const mayWrite = useCan('admin');
  const [, setFrom] = useSearchParam('from');
  const [draft, setDraft] = useDraft(`graph.${name}`);
  const text = draft ?? opened.text;
  const isChanged = opened.isNew || (draft !== null && draft !== opened.text);
  // The text on which the changes are based: the server is asked to replace this one and no other.
  const base = useRef(opened.text);
  if (!isChanged) base.current = opened.text;

  const checked = useVerdict(text);
  const problems = checked.verdict?.problems ?? [];
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const editor = useRef<EditorHandle>(null);
  const [dialog, setDialog] = useState<GraphAction | null>(null);
  const [selected, setSelected] = useState<string | null>(null);
  const graphs = useGet('/api/v1/dags', {}, { enabled: dialog === 'copy' });
  const put = useSend('put', '/api/v1/dags/{name}', { invalidates: ['/api/v1/dags', '/api/v1/dags/{name}'] });

  const save = async (overwrite = false) => {
    if (!isChanged || !mayWrite || !opened.isEditable || errors > 0) return;
    try {
      const version = opened.isNew || overwrite ? '*' : await ifMatch('dags', name, base.current);
      await put.send({
        path: { name },
        body: { text },
        headers: opened.isNew && !overwrite ? {} : { 'if-match': version },
      });
      base.current = text;
      setDraft(null);
      if (opened.isNew) setFrom(null, { replace: true });
      toast(`Graph ${name} saved`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  };
  const act = (action: GraphAction) => {
    if (action === 'save') void save();
    else if (action === 'discard') {
      setDraft(null);
      put.reset();
      if (opened.isNew) go('/graphs');
    } else setDialog(action);
  };
  const show = (id: string) => {
    setSelected(id);
    const line = lineOfNode(text, id);
    if (line !== null) editor.current?.goTo(line, 1);
  };

  return (
    <>
      <GraphHeader
        name={name}
        opened={opened}
        isChanged={isChanged}
        isSaving={put.isPending}
        errors={errors}
        isChecked={!checked.isPending}
        mayWrite={mayWrite}
        onAction={act}
      />
      {put.error !== null && (
        <SaveProblem
          error={put.error}
          onReload={() => {
            setDraft(null);
            put.reset();
            reload();
          }}
          onOverwrite={() => void save(true)}
        />
      )}
      <GraphWorkbench
        name={name}
        text={text}
        onText={(next) => {
          setDraft(next === opened.text && !opened.isNew ? null : next);
          if (put.error !== null) put.reset();
        }}
        isReadOnly={!opened.isEditable || !mayWrite}
        checked={checked}
        editor={editor}
        selected={selected}
        onSelect={show}
        onSave={() => void save()}
      />
      {dialog === 'insert' && (
        <InsertModule
          onClose={() => setDialog(null)}
          onInsert={(module) => {
            setDialog(null);
            const taken = checked.graph?.nodes.map(({ instance_id }) => instance_id) ?? [];
            // After the dialog has given the focus back.
            setTimeout(() => {
              editor.current?.goTo(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
              editor.current?.insert(`${text.endsWith('\n') ? '' : '\n'}${nodeText(module, taken)}`);
            });
          }}
        />
      )}
      {dialog === 'copy' && (
        <NewFile
          what="graph"
          existing={graphs.data?.dags.map((graph) => graph.name) ?? [name]}
          from={name}
          onClose={() => setDialog(null)}
          onName={(next, from) => go(`/graphs/${next}?from=${from ?? '-'}`)}
        />
      )}
      {dialog === 'delete' && <DeleteGraph name={name} onClose={() => setDialog(null)} />}
    </>
  );
}
