import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Icon } from '../icons/icon.tsx';
import type { CodeEditorProps, EditorProblem } from './editor-props.ts';
import { indentAfter, lineAt, markedLength, nextProblem, offsetAt } from './text-position.ts';
import { type YamlToken, yamlTokens } from './yaml-tokens.ts';

/** Height of a line, pixels; as `leading-[19px]`. */
const lineHeight = 19;
/** Space above the first line, pixels; as `pt-2`. */
const topSpace = 8;
/** Lines drawn above and below those in view. */
const beyond = 10;
const usualHeight = 480;

/**
 * A field for code: line numbers, colors, problems at their lines. F8 and Shift+F8 go from problem to problem,
 * Ctrl+S saves. Tab leaves it, as it leaves every field.
 */
export function CodeEditor(props: CodeEditorProps): ReactNode {
  const { value, onChange, problems, label, onSave, readOnly = false, height = usualHeight, handle } = props;
  const box = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const [view, setView] = useState({ top: 0, height: usualHeight });
  const [spoken, setSpoken] = useState('');

  const lines = value.split('\n');
  const longest = lines.reduce((most, line) => Math.max(most, line.length), 0);
  const first = Math.max(0, Math.floor((view.top - topSpace) / lineHeight) - beyond);
  const last = Math.min(lines.length, Math.ceil((view.top + view.height) / lineHeight) + beyond);
  const byLine = Map.groupBy(problems, ({ line }) => line);
  const gutter = `${Math.max(2, String(lines.length).length) + 3}ch`;

  const goTo = (line: number, column: number) => {
    const area = field.current;
    if (area === null || box.current === null) return;
    const offset = offsetAt(area.value, line, column);
    area.focus({ preventScroll: true });
    area.setSelectionRange(offset, offset);
    const top = (line - 1) * lineHeight;
    const { scrollTop, clientHeight } = box.current;
    if (top < scrollTop || top + 2 * lineHeight > scrollTop + clientHeight) {
      box.current.scrollTop = Math.max(0, top - clientHeight / 2);
    }
    box.current.scrollLeft = 0;
  };
  const insert = (text: string) => {
    field.current?.focus();
    // The only way to change a field such that the browser can undo it.
    document.execCommand('insertText', false, text);
  };
  useEffect(() => {
    if (handle === undefined) return;
    handle.current = { goTo, insert };
    return () => {
      handle.current = null;
    };
  });
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setView(({ top }) => ({ top, height: element.clientHeight })));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const area = event.currentTarget;
    if (event.key === 'F8') {
      const next = nextProblem(problems, lineAt(value, area.selectionStart), event.shiftKey ? -1 : 1);
      if (next !== null) {
        goTo(next.line, next.column);
        setSpoken(`Line ${next.line}: ${next.message}`);
      }
    } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 's') {
      onSave?.();
    } else if (event.key === 'Enter' && !readOnly && !event.nativeEvent.isComposing && !event.ctrlKey) {
      insert(`\n${indentAfter(value, area.selectionStart)}`);
    } else return;
    event.preventDefault();
  };

  return (
    <div className={`relative min-h-0 min-w-0 bg-code-bg ${height === 'fill' ? 'h-full' : ''}`}>
      <div
        ref={box}
        className="mono h-full overflow-auto leading-[19px] focus-within:outline-2 focus-within:outline-focus"
        style={height === 'fill' ? undefined : { height }}
        onScroll={({ currentTarget }) =>
          setView({ top: currentTarget.scrollTop, height: currentTarget.clientHeight })
        }
      >
        <div
          className="relative min-h-full min-w-full"
          style={{
            width: `calc(${longest + 2}ch + ${gutter})`,
            height: lines.length * lineHeight + 2 * topSpace,
          }}
        >
          <div aria-hidden className="absolute inset-0">
            {lines.slice(first, last).map((text, k) => (
              <CodeLine
                key={first + k}
                text={text}
                number={first + k + 1}
                problems={byLine.get(first + k + 1)}
                gutter={gutter}
                isColored={props.language === 'yaml'}
              />
            ))}
          </div>
          <textarea
            ref={field}
            aria-label={label}
            aria-invalid={problems.some(({ severity }) => severity === 'error') || undefined}
            aria-keyshortcuts="F8 Control+S"
            readOnly={readOnly}
            spellCheck={false}
            autoCapitalize="none"
            autoComplete="off"
            className="absolute inset-0 block h-full w-full resize-none overflow-hidden whitespace-pre bg-transparent pt-2 text-transparent caret-text-1 outline-none forced-colors:text-[transparent]"
            style={{ paddingLeft: gutter }}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            onKeyDown={onKeyDown}
          />
        </div>
      </div>
      <p role="status" className="sr-only">
        {spoken}
      </p>
    </div>
  );
}

interface LineProps {
  text: string;
  number: number;
  problems: readonly EditorProblem[] | undefined;
  gutter: string;
  isColored: boolean;
}

const colors: Record<YamlToken['kind'], string> = {
  key: 'text-code-key',
  string: 'text-code-string',
  number: 'text-code-number',
  comment: 'text-code-comment',
  plain: 'text-text-1',
};

function CodeLine({ text, number, problems = [], gutter, isColored }: LineProps): ReactNode {
  const worst = problems.find(({ severity }) => severity === 'error') ?? problems[0];
  const isError = worst?.severity === 'error';
  const ground = worst === undefined ? '' : isError ? 'bg-diff-new-bg' : 'bg-sev-medium-bg';
  const ink = isError ? 'text-state-failed' : 'text-state-interrupted';
  return (
    <div
      className={`absolute inset-x-0 flex h-[19px] whitespace-pre ${ground}`}
      style={{ top: (number - 1) * lineHeight + topSpace }}
    >
      <span
        className={`shrink-0 pr-[2ch] text-right ${worst === undefined ? 'text-text-3' : ink}`}
        style={{ width: gutter }}
      >
        {number}
      </span>
      <span className="relative shrink-0">
        {(isColored ? yamlTokens(text) : [{ kind: 'plain' as const, text }]).map((token, index) => (
          <span key={index} className={colors[token.kind]}>
            {token.text}
          </span>
        ))}
        {problems.map((problem) => (
          <span
            key={`${problem.column} ${problem.message}`}
            className={`absolute top-0 underline decoration-wavy underline-offset-2 ${ink}`}
            style={{ left: `${Math.max(0, problem.column - 1)}ch` }}
          >
            {'\u00a0'.repeat(markedLength(text, problem))}
          </span>
        ))}
      </span>
      {worst !== undefined && (
        <span
          className={`sticky right-0 ml-auto hidden tablet:flex min-w-0 items-center gap-1.5 pr-3 pl-6 font-sans ${ink} ${ground}`}
        >
          <Icon name="state-failed" size={14} />
          <span className="truncate">{worst.message}</span>
        </span>
      )}
    </div>
  );
}
