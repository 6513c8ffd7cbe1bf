import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { useSend } from '../../api/use-send.ts';
import { Button } from '../../components/controls/button.tsx';
import { toast } from '../../components/controls/toasts.tsx';
import { CodeEditor } from '../../components/editor/code-editor.tsx';
import type { EditorProblem } from '../../components/editor/editor-props.ts';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { useCan } from '../../session/session.ts';
import { useGo } from '../../url/link.tsx';
import { useSearchParam } from '../../url/use-search-param.ts';
import { renamed } from '../graphs/graph-text.ts';
import { ifMatch } from '../graphs/if-match.ts';
import { SaveProblem } from '../graphs/save-problem.tsx';
import { sourceWord } from '../graphs/source-word.ts';
import { useDraft } from '../graphs/use-draft.ts';
import { DeleteProfile } from './delete-profile.tsx';

type Profile = Data<'/api/v1/profiles/{name}'>;

/** What the page shows: a profile that is there, or one that is not saved yet. */
interface Opened {
  source: string;
  isNew: boolean;
  isEditable: boolean;
  text: string;
}

/** The text of a profile; `?from=` begins one that is not there yet. */
export default function ProfilePage(): ReactNode {
  const { name = '' } = useParams({ strict: false }) as { name?: string };
  const [from] = useSearchParam('from');
  const source = from === '' ? name : from;
  const got = useGet('/api/v1/profiles/{name}', { path: { name: source } }, { enabled: from !== '-' });
  const opened =
    from === '-' ? { ...fresh, text: exampleOf(name) } : got.data && openedOf(got.data, name, from);
  if (opened !== undefined) return <OpenProfile key={name} name={name} {...opened} reload={got.refetch} />;
  return (
    <>
      <PageHeader title={name} crumbs={[{ label: 'Profiles', to: '/profiles' }]} />
      <Boundary got={got} what={`The profile ${source}`} doing="see profiles" rows={12}>
        {() => null}
      </Boundary>
    </>
  );
}

function openedOf({ source, editable, text }: Profile, name: string, from: string): Opened {
  if (from !== '') return { ...fresh, text: renamed(text, name) };
  return { source, isNew: false, isEditable: editable, text };
}

const fresh = { source: 'workspace', isNew: true, isEditable: true };

interface OpenProps extends Opened {
  name: string;
  /** Reads the saved text again. */
  reload(): void;
}

function OpenProfile({ name, source, isNew, isEditable, text: saved, reload }: OpenProps): ReactNode {
  const go = useGo();
  const mayWrite = useCan('admin');
  const [, setFrom] = useSearchParam('from');
  const [draft, setDraft] = useDraft(`profile.${name}`);
  const [base, setBase] = useState(saved);
  const [isDeleting, setDeleting] = useState(false);
  const put = useSend('put', '/api/v1/profiles/{name}', {
    invalidates: ['/api/v1/profiles', '/api/v1/profiles/{name}'],
  });
  const text = draft ?? saved;
  const isChanged = isNew || (draft !== null && draft !== saved);
  const isWritable = isEditable && mayWrite;

  const save = async (overwrite = false) => {
    if (!isChanged || !isWritable) return;
    try {
      const version = isNew || overwrite ? '*' : await ifMatch('profiles', name, base);
      await put.send({
        path: { name },
        body: { text },
        headers: isNew && !overwrite ? {} : { 'if-match': version },
      });
      setBase(text);
      setDraft(null);
      if (isNew) setFrom(null, { replace: true });
      toast(`Profile ${name} saved`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  };
  const discard = () => {
    setDraft(null);
    put.reset();
    if (isNew) go('/profiles');
  };

  return (
    <>
      <PageHeader
        title={name}
        crumbs={[{ label: 'Profiles', to: '/profiles' }]}
        mark={<Tag>{isNew ? 'new profile' : `${sourceWord(source)} profile`}</Tag>}
        meta={
          isEditable
            ? undefined
            : 'This profile comes with the service and cannot be changed. A new one can begin with its text.'
        }
        actions={
          isWritable && (
            <>
              {isChanged && (
                <Button variant="ghost" icon="retry" onClick={discard}>
                  Discard
                </Button>
              )}
              {!isNew && (
                <Button variant="danger" onClick={() => setDeleting(true)}>
                  Delete profile…
                </Button>
              )}
              <Button
                variant="primary"
                pending={put.isPending}
                disabledReason={!isChanged && 'Nothing was changed'}
                onClick={() => void save()}
              >
                Save
              </Button>
            </>
          )
        }
      />
      {put.error !== null && (
        <SaveProblem
          error={put.error}
          onReload={() => {
            discard();
            setBase(saved);
            reload();
          }}
          onOverwrite={() => void save(true)}
        />
      )}
      <div className="h-[max(320px,calc(100dvh-220px))] border border-line">
        <CodeEditor
          label={`Text of the profile ${name}`}
          language="yaml"
          height="fill"
          value={text}
          problems={problemsOf(put.error)}
          readOnly={!isWritable}
          onSave={() => void save()}
          onChange={(next) => {
            setDraft(next === saved && !isNew ? null : next);
            if (put.error !== null) put.reset();
          }}
        />
      </div>
      {isDeleting && <DeleteProfile name={name} onClose={() => setDeleting(false)} />}
    </>
  );
}

function exampleOf(name: string): string {
  return `name: ${name}\ndescription: What this profile is for\ndag: standard\n`;
}

/** The server's problems of a text that it did not save. */
function problemsOf(error: ApiError | null): EditorProblem[] {
  const { problems } = error?.details ?? {};
  return Array.isArray(problems) ? (problems as EditorProblem[]) : [];
}
