import { useEffect, useRef } from 'react';
import { useSend } from '../../api/use-send.ts';
import { Button } from '../../components/controls/button.tsx';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { useLack } from '../../components/controls/use-lack.ts';
import { GraphPicture } from '../../components/graph/graph-picture.tsx';
import type { GraphEdge, GraphNode } from '../../components/graph/graph-props.ts';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { Note } from '../../components/layout/note.tsx';
import { Section } from '../../components/layout/section.tsx';
import { Strip } from '../../components/layout/strip.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { LoadingRows } from '../../components/states/loading-rows.tsx';
import { CopyButton } from '../../components/text/copy-button.tsx';
import { DurationText } from '../../components/text/duration-text.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { count } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { Link, useGo } from '../../url/link.tsx';
import {
  clearDraft,
  commandOf,
  type Draft,
  furtherText,
  type Submission,
  submissionOf,
  useDraft,
} from './draft.ts';
import { Refused } from './other-problem.tsx';
import { StepFoot } from './step-foot.tsx';
import { type Plan, usePlan } from './use-plan.ts';

/** What will be sent, to whom, for how long. The button below starts it. */
export default function ReviewStep() {
  const [draft] = useDraft();
  const submission = submissionOf(draft);
  const isEmpty = submission.targets.length === 0;
  const { plan, error } = usePlan(isEmpty ? null : submission);
  if (isEmpty)
    return (
      <Empty
        title="No target yet"
        text="A scan needs at least one address, range or name."
        action={<LinkButton to="/scans/new">Name targets</LinkButton>}
      />
    );
  if (error)
    return (
      <>
        <Refused error={error} />
        <StepFoot at={4} />
      </>
    );
  if (!plan) return <LoadingRows rows={8} />;
  return (
    <>
      <Numbers plan={plan} />
      <div className="grid gap-x-9 gap-y-8 pt-6 desk:grid-cols-[minmax(0,1fr)_288px]">
        <div className="flex min-w-0 flex-col gap-8">
          <Targets plan={plan} />
          <Command submission={submission} />
        </div>
        <Settings plan={plan} submission={submission} draft={draft} />
      </div>
      <div className="pt-8">
        <Graph plan={plan} />
      </div>
      <Start submission={submission} />
    </>
  );
}

/** What this scan costs, with the reason of each number. */
function Numbers({ plan }: { plan: Plan }) {
  const ports = plan.ports.tcp + plan.ports.udp;
  const hosts = plan.addresses + plan.hostnames;
  return (
    <Strip
      label="What this scan does"
      numbers={[
        {
          key: 'addresses',
          label: 'Addresses',
          value: count(hosts),
          note: `${count(hosts + plan.excluded)} named, ${count(plan.excluded)} excluded`,
        },
        {
          key: 'packets',
          label: 'Packets, at most',
          value: count(plan.packets_estimate),
          note: `discovery, ${plural(ports, 'port')}, retries`,
        },
        probable(plan.duration_probable),
        {
          key: 'duration',
          label: 'Duration of the port scan, at most',
          value: <DurationText ms={plan.duration_estimate_seconds * 1000} />,
          note: conditionOf(plan.duration_estimate_basis),
        },
      ]}
    />
  );
}

/** What an estimate takes for granted reads as that; "nothing to send" is none. */
function conditionOf(basis: string): string {
  return / (is|are|responds)\b/.test(basis) ? `if ${basis}` : basis;
}

function probable({ seconds, basis, scan_id }: Plan['duration_probable']) {
  return {
    key: 'probably',
    label: 'Duration, probably',
    value: <DurationText ms={seconds * 1000} />,
    note: scan_id === null ? conditionOf(basis) : <Link to={`/scans/${scan_id}`}>{basis}</Link>,
  };
}

/** What is set and has no line of its own. */
function furtherOf(draft: Draft): string[] {
  return [
    ...(draft.discover ? [] : ['every target counts as up']),
    ...(draft.maxDuration === '' ? [] : [`at most ${draft.maxDuration}`]),
    ...furtherText(draft),
  ];
}

const shownTargets = 50;
const leftOutBy = {
  excluded: 'excluded by you',
  blocked: 'never scanned',
  out_of_scope: 'out of scope',
} as const;

/** Targets with their addresses, then what is left out and by whom. */
function Targets({ plan }: { plan: Plan }) {
  const shown = plan.target_list.slice(0, shownTargets);
  const more = plan.target_list.length - shown.length + plan.target_list_left;
  return (
    <Section title="Targets" link={{ label: 'Change', to: '/scans/new' }}>
      <table className="w-full">
        <thead>
          <tr className="text-left text-size-11 text-text-3">
            <th className="h-7 font-medium">Target</th>
            <th className="w-24 text-right font-medium">Addresses</th>
            <th className="w-1/2 pl-7 font-medium max-tablet:hidden">Note</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((line) => (
            <TargetRow key={`${line.kind} ${line.target}`} line={line} />
          ))}
        </tbody>
      </table>
      {more > 0 && (
        <p className="border-line-subtle border-t py-1.5 text-text-2">{plural(more, 'more line')}</p>
      )}
    </Section>
  );
}

function TargetRow({ line: { target, kind, addresses, note } }: { line: Plan['target_list'][number] }) {
  const isScanned = kind === 'target';
  const why = (
    <span className="inline-flex flex-wrap items-center gap-x-2 text-text-2">
      {!isScanned && <Tag>{leftOutBy[kind]}</Tag>}
      {note !== null && !(kind === 'excluded' && addresses > 0) && note}
    </span>
  );
  return (
    <tr className="border-line-subtle border-t align-top">
      <td className="h-7 py-1 [overflow-wrap:anywhere]">
        <TargetText text={target} mono cut="middle" max={60} />
        <span className="block tablet:hidden">{why}</span>
      </td>
      <td className={`py-1 text-right ${isScanned ? '' : 'text-text-2'}`}>
        {isScanned ? count(addresses) : addresses === 0 ? '0' : `−${count(addresses)}`}
      </td>
      <td className="py-1 pl-7 max-tablet:hidden">{why}</td>
    </tr>
  );
}

function Graph({ plan }: { plan: Plan }) {
  const names = new Set(plan.nodes.map(({ instance_id }) => instance_id));
  const nodes = plan.nodes.map(
    ({ instance_id, module_type, skipped }): GraphNode => ({
      id: instance_id,
      title: instance_id,
      text: skipped ?? module_type,
      state: skipped === null ? 'none' : 'skipped',
    }),
  );
  const edges = plan.nodes.flatMap(({ instance_id, depends_on, skipped }) =>
    depends_on
      .filter((name) => names.has(name))
      .map((from): GraphEdge => ({ from, to: instance_id, dashed: skipped !== null })),
  );
  const skipped = plan.nodes.filter((node) => node.skipped !== null).length;
  return (
    <Section
      title="Graph"
      note={`${plan.graph}, ${count(plan.nodes.length)} stages${skipped > 0 ? `, ${skipped} skipped` : ''}`}
      link={{ label: 'Open', to: `/graphs/${plan.graph}` }}
    >
      <GraphPicture nodes={nodes} edges={edges} direction="right" label="Graph of this scan" />
    </Section>
  );
}

interface SettingsProps {
  plan: Plan;
  submission: Submission;
  draft: Draft;
}

function Settings({ plan, submission, draft }: SettingsProps) {
  const further = furtherOf(draft);
  return (
    <Section title="Settings" link={{ label: 'Change', to: '/scans/new/options' }}>
      <KeyValues
        rows={[
          { label: 'Name', value: submission.name ? <TargetText text={submission.name} /> : '–' },
          { label: 'Profile', value: plan.profile },
          {
            label: 'Ports',
            value: submission.ports ?? `${count(plan.ports.tcp)} TCP, ${count(plan.ports.udp)} UDP`,
          },
          {
            label: 'Packets per second',
            value: plan.rate === 'auto' ? 'auto, as responses keep coming' : `at most ${count(plan.rate)}`,
          },
          { label: 'Scan type', value: String(submission.options?.['scan_type'] ?? 'automatic') },
          {
            label: 'Exclude',
            value: submission.exclude && <TargetText text={submission.exclude.join(', ')} mono max={80} />,
          },
          { label: 'Tags', value: submission.tags && <TargetText text={submission.tags.join(', ')} /> },
          { label: 'Vulnerabilities', value: plan.vuln ? 'on' : 'off' },
          {
            label: 'Findings',
            value: draft.minSeverity === '' ? undefined : `from ${draft.minSeverity}`,
          },
          {
            label: 'Further',
            value: further.length > 0 ? <TargetText text={further.join(', ')} wrap /> : undefined,
          },
          { label: 'Intrusive checks', value: submission.options?.['intrusive'] ? 'on' : 'off' },
          {
            label: 'Notify',
            value: submission.notifications ? (
              <TargetText text={submission.notifications.join(', ')} mono wrap />
            ) : (
              'default channels'
            ),
          },
        ]}
      />
      <div className="flex flex-col gap-2 pt-3">
        {plan.warnings.map(({ code, message }) => (
          <Note key={`${code} ${message}`} tone="warning">
            <TargetText text={message} wrap />
          </Note>
        ))}
      </div>
    </Section>
  );
}

function Command({ submission }: { submission: Submission }) {
  const command = commandOf(submission);
  return (
    <Section
      title="Same on the command line"
      actions={<CopyButton text={command} label="Copy the command" />}
    >
      <pre
        className="mono mt-2 overflow-x-auto rounded-m border border-line bg-code-bg p-3"
        tabIndex={0}
        aria-label="Command"
      >
        {command}
      </pre>
    </Section>
  );
}

function Start({ submission }: { submission: Submission }) {
  const go = useGo();
  const lack = useLack('scan:write', 'scan:execute');
  const { send, isPending, error } = useSend('post', '/api/v1/scans', {
    invalidates: ['/api/v1/scans', '/api/v1/dashboard'],
  });
  const start = async () => {
    if (lack !== null || isPending) return;
    const { scan_id } = await send({ body: submission as never });
    clearDraft();
    go(`/scans/${scan_id}`);
  };
  const latest = useRef(start);
  latest.current = start;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key === 'Enter')
        void latest.current().catch(() => undefined);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  return (
    <>
      {error && (
        <div className="pt-6">
          <Refused error={error} />
        </div>
      )}
      <StepFoot at={4}>
        <span className="text-text-2">Nothing has been sent yet.</span>
        <LinkButton to="/jobs/new" icon="calendar">
          Schedule…
        </LinkButton>
        <Button
          variant="primary"
          icon="play"
          disabledReason={lack}
          pending={isPending}
          aria-keyshortcuts="Control+Enter"
          onClick={() => void start().catch(() => undefined)}
        >
          Start scan
          <kbd className="ml-1 rounded-s border border-current px-1 text-size-11 opacity-80 max-tablet:hidden">
            Ctrl ↵
          </kbd>
        </Button>
      </StepFoot>
    </>
  );
}
