import type { ReactNode, RefObject } from 'react';
import { Button } from '../../components/controls/button.tsx';
import { CodeEditor } from '../../components/editor/code-editor.tsx';
import type { EditorHandle } from '../../components/editor/editor-props.ts';
import { GraphPicture } from '../../components/graph/graph-picture.tsx';
import { Icon } from '../../components/icons/icon.tsx';
import { bytes } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { drawingOf } from './graph-drawing.ts';
import { fixOf, type GraphProblem, placeOf } from './graph-text.ts';
import type { useVerdict } from './use-verdict.ts';

interface Props {
  name: string;
  text: string;
  onText(text: string): void;
  isReadOnly: boolean;
  checked: ReturnType<typeof useVerdict>;
  editor: RefObject<EditorHandle | null>;
  selected: string | null;
  onSelect(id: string): void;
  onSave(): void;
}

/** The text at the left, its picture at the right, the problems below: same line, same node, same words. */
export function GraphWorkbench(props: Props): ReactNode {
  const { name, text, onText, isReadOnly, checked, editor, selected, onSelect, onSave } = props;
  const problems = checked.verdict?.problems ?? [];
  return (
    <div className="flex min-h-0 flex-col">
      <div className="grid border-y border-line tablet:h-[max(360px,calc(100dvh-270px))] tablet:grid-cols-[minmax(0,6fr)_minmax(0,5fr)]">
        <section
          aria-label="Text"
          className="flex min-h-0 min-w-0 flex-col border-line max-tablet:h-[60dvh] tablet:border-r"
        >
          <Head left={<span className="mono">{name}.yaml</span>} right={sizeText(text)} />
          <div className="min-h-0 grow">
            <CodeEditor
              label={`Text of the graph ${name}`}
              language="yaml"
              value={text}
              onChange={onText}
              problems={problems.map((problem) => ({ ...problem, ...placeOf(text, problem) }))}
              onSave={onSave}
              readOnly={isReadOnly}
              height="fill"
              handle={editor}
            />
          </div>
        </section>
        <section
          aria-label="Picture"
          className="flex min-h-0 min-w-0 flex-col max-tablet:border-t max-tablet:border-line max-tablet:pt-2"
        >
          <Picture {...props} selected={selected} onSelect={onSelect} />
        </section>
      </div>
      <Problems
        text={text}
        problems={problems}
        checked={checked}
        editor={editor}
        onText={isReadOnly ? undefined : onText}
      />
    </div>
  );
}

function Head({ left, right }: { left: ReactNode; right: ReactNode }): ReactNode {
  return (
    <div className="flex h-9 shrink-0 items-center justify-between gap-3 border-b border-line-subtle px-3 text-size-12 text-text-2">
      <span className="min-w-0 truncate">{left}</span>
      <span className="shrink-0 text-text-3">{right}</span>
    </div>
  );
}

function Picture({ name, text, checked, selected, onSelect }: Props): ReactNode {
  const { graph, verdict } = checked;
  if (graph === null) {
    const words =
      checked.error?.message ?? (verdict === null ? '' : 'The picture comes when the text can be read.');
    return <p className="p-4 text-text-2">{words}</p>;
  }
  const isOld = verdict?.graph === null;
  const { nodes, edges } = drawingOf(graph, text, isOld ? [] : (verdict?.problems ?? []));
  return (
    <>
      <Head
        left={
          <>
            <span className="font-medium text-text-1">{plural(nodes.length, 'stage')}</span>
            {isOld && <span className="pl-3">picture of the last text that could be read</span>}
          </>
        }
        right=""
      />
      <div className="min-h-0 grow">
        <GraphPicture
          label={`Stages of ${name}`}
          direction="down"
          nodes={nodes}
          edges={edges}
          selected={selected}
          onSelect={onSelect}
        />
      </div>
    </>
  );
}

interface ProblemsProps {
  text: string;
  problems: readonly GraphProblem[];
  checked: Props['checked'];
  editor: Props['editor'];
  /** Absent where the text cannot be changed. */
  onText: ((text: string) => void) | undefined;
}

function Problems({ text, problems, checked, editor, onText }: ProblemsProps): ReactNode {
  const count = (severity: string) => problems.filter((each) => each.severity === severity).length;
  const words =
    checked.error !== null
      ? `The text could not be checked: ${checked.error.message}`
      : checked.verdict === null
        ? 'The text is being checked.'
        : problems.length === 0
          ? 'None. Scans can run this graph.'
          : `${plural(count('error'), 'error')}, ${plural(count('warning'), 'warning')}`;
  return (
    <section aria-labelledby="problems" className="pt-3">
      <div className="flex items-baseline gap-3 pb-1">
        <h2 id="problems">Problems</h2>
        <span role="status" className="text-size-12 text-text-2">
          {words}
        </span>
        <span className="ml-auto text-size-12 text-text-3 max-tablet:hidden">
          <kbd className="rounded-s border border-line px-1.5 text-size-11">F8</kbd> next problem
        </span>
      </div>
      <ul className="m-0 list-none p-0">
        {problems.map((problem, index) => (
          <ProblemRow
            key={`${index} ${problem.message}`}
            text={text}
            problem={problem}
            editor={editor}
            onText={onText}
          />
        ))}
      </ul>
    </section>
  );
}

function ProblemRow({
  text,
  problem,
  editor,
  onText,
}: Omit<ProblemsProps, 'problems' | 'checked'> & { problem: GraphProblem }): ReactNode {
  const fix = onText === undefined ? null : fixOf(text, problem);
  const place = placeOf(text, problem);
  const isError = problem.severity === 'error';
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-t border-line-subtle py-1.5">
      <span className={`flex ${isError ? 'text-state-failed' : 'text-state-interrupted'}`}>
        <Icon name={isError ? 'state-failed' : 'warning'} size={14} label={isError ? 'Error' : 'Warning'} />
      </span>
      <button
        type="button"
        className="mono min-h-6 text-accent-text hover:underline max-tablet:min-h-11"
        onClick={() => editor.current?.goTo(place.line, place.column)}
      >
        line {place.line}
      </button>
      {problem.node !== null && <span className="font-medium">{problem.node}</span>}
      {problem.field !== null && problem.field !== undefined && (
        <span className="mono text-text-2">{problem.field}</span>
      )}
      <span className="min-w-0 [overflow-wrap:anywhere]">
        {problem.message}
        {fix === null && problem.fix !== undefined && <span className="text-text-2">; {problem.fix}</span>}
      </span>
      {fix !== null && onText !== undefined && (
        <span className="ml-auto">
          <Button size="small" onClick={() => onText(fix.text)}>
            {fix.label}
          </Button>
        </span>
      )}
    </li>
  );
}

function sizeText(text: string): string {
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  return `${plural(lines, 'line')}, ${bytes(new TextEncoder().encode(text).length)}`;
}
