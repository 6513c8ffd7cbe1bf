import { useEffect, useRef } from 'react';
import { useSend } from '../../api/use-send.ts';
import { Button } from '../../components/controls/button.tsx';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { GraphPicture } from '../../components/graph/graph-picture.tsx';
import type { GraphEdge, GraphNode } from '../../components/graph/graph-props.ts';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { Note } from '../../components/layout/note.tsx';
import { Section } from '../../components/layout/section.tsx';
import { Strip } from '../../components/layout/strip.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { Failure } from '../../components/states/failure.tsx';
import { LoadingRows } from '../../components/states/loading-rows.tsx';
import { CopyButton } from '../../components/text/copy-button.tsx';
import { DurationText } from '../../components/text/duration-text.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { count } from '../../format/numbers.ts';
import { useCan } from '../../session/session.ts';
import { useGo } from '../../url/link.tsx';
import { clearDraft, commandOf, type Submission, submissionOf, useDraft } from './draft.ts';
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
  if (error) return <Refused error={error} />;
  if (!plan) return <LoadingRows rows={8} />;
  return (
    <>
      <Numbers plan={plan} />
      <div className="grid gap-x-9 gap-y-8 pt-6 desk:grid-cols-[minmax(0,1fr)_288px]">
        <div className="flex min-w-0 flex-col gap-8">
          <Targets plan={plan} submission={submission} />
          <Graph plan={plan} />
        </div>
        <div className="flex min-w-0 flex-col gap-8">
          <Settings plan={plan} submission={submission} />
          <Command submission={submission} />
        </div>
      </div>
      <Start submission={submission} />
    </>
  );
}

function Refused({ error }: { error: NonNullable<ReturnType<typeof usePlan>['error']> }) {
  return (
    <>
      <Failure error={error} />
      <ul className="pt-3">
        {error.fields.map(({ field, reason }) => (
          <li key={`${field} ${reason}`}>
            <code className="mono">{field}</code> <TargetText text={reason} />
          </li>
        ))}
      </ul>
      <StepFoot at={4} />
    </>
  );
}

function Numbers({ plan }: { plan: Plan }) {
  const ports = plan.ports.tcp + plan.ports.udp;
  return (
    <Strip
      label="What this scan does"
      numbers={[
        {
          key: 'addresses',
          label: 'Addresses',
          value: count(plan.addresses + plan.hostnames),
          note: `${count(plan.addresses + plan.hostnames + plan.excluded)} named, ${count(plan.excluded)} excluded`,
        },
        {
          key: 'packets',
          label: 'Packets, at most',
          value: count(plan.packets_estimate),
          note: `${count(ports)} ports, retries and discovery`,
        },
        {
          key: 'duration',
          label: 'Duration, at most',
          value: <DurationText ms={plan.duration_estimate_seconds * 1000} />,
          note: 'if every address is up and silent',
        },
        { key: 'rate', label: 'Packets per second', value: count(plan.rate), note: 'never more' },
      ]}
    />
  );
}

const shownTargets = 50;

function Targets({ plan, submission }: { plan: Plan; submission: Submission }) {
  const excluded = submission.exclude ?? [];
  return (
    <Section title="Targets" link={{ label: 'Change', to: '/scans/new' }}>
      <ul>
        {plan.targets.slice(0, shownTargets).map((target) => (
          <li key={target} className="flex min-h-7 items-center border-line-subtle border-b">
            <TargetText text={target} mono />
          </li>
        ))}
        {plan.targets.length > shownTargets && (
          <li className="py-1 text-text-2">{count(plan.targets.length - shownTargets)} more</li>
        )}
        {excluded.map((target) => (
          <li key={target} className="flex min-h-7 items-center gap-3 border-line-subtle border-b">
            <TargetText text={target} mono /> <span className="text-text-2">excluded by you</span>
          </li>
        ))}
      </ul>
    </Section>
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

function Settings({ plan, submission }: { plan: Plan; submission: Submission }) {
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
          { label: 'Vulnerabilities', value: plan.vuln ? 'on' : 'off' },
          { label: 'Intrusive checks', value: submission.options?.['intrusive'] ? 'on' : 'off' },
          { label: 'Notify', value: submission.notifications?.join(', ') ?? 'default channels' },
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
  const mayStart = useCan('scan:write', 'scan:execute');
  const { send, isPending, error } = useSend('post', '/api/v1/scans', {
    invalidates: ['/api/v1/scans', '/api/v1/dashboard'],
  });
  const start = async () => {
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
      {error && <Failure error={error} />}
      <StepFoot at={4}>
        <span className="text-text-2">Nothing has been sent yet.</span>
        <LinkButton to="/jobs/new" icon="calendar">
          Schedule…
        </LinkButton>
        <Button
          variant="primary"
          icon="play"
          disabledReason={
            mayStart ? (isPending ? 'Starting' : undefined) : 'Needs the scope scan:write or scan:execute'
          }
          onClick={() => void start().catch(() => undefined)}
        >
          Start scan
        </Button>
      </StepFoot>
    </>
  );
}
