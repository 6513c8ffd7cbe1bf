import { type FormEvent, useState } from 'react';
import { useGet } from '../../api/use-get.ts';
import { Button } from '../../components/controls/button.tsx';
import { Field } from '../../components/controls/field.tsx';
import { takeFocus } from '../../components/controls/take-focus.ts';
import { TextInput } from '../../components/controls/text-input.tsx';
import { useLack } from '../../components/controls/use-lack.ts';
import { Icon, type IconName } from '../../components/icons/icon.tsx';
import { Section } from '../../components/layout/section.tsx';
import { CopyButton } from '../../components/text/copy-button.tsx';
import { count } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { useGo } from '../../url/link.tsx';
import { usePageTitle } from '../../url/page-title.ts';
import { searchText } from '../../url/search-text.ts';
import { changeDraft, clearDraft, targetsIn } from '../new-scan/draft.ts';
import { fieldProblem } from '../new-scan/field-problem.ts';
import { usePlan } from '../new-scan/use-plan.ts';
import { MachineAllows } from './machine-allows.tsx';

/** The dashboard of an empty workspace: the way to the first scan. */
export function FirstScan() {
  usePageTitle('Dashboard');
  const [text, setText] = useState('');
  const go = useGo();
  const targets = targetsIn(text);
  const review = (wanted: string) => go(`/scans/new/review${searchText({ targets: wanted })}`);
  return (
    <div className="mx-auto max-w-[884px] pt-3 tablet:pt-8">
      <h1 className="pb-2">Start a first scan</h1>
      <p className="max-w-[560px] text-text-2">
        Nothing has been scanned here yet. Name what you are allowed to scan. You see addresses, packets and
        duration before anything is sent.
      </p>
      <div className="grid gap-x-11 gap-y-8 pt-7 desk:grid-cols-[minmax(0,1fr)_250px]">
        <div className="flex min-w-0 flex-col gap-8">
          <TargetForm text={text} onText={setText} onReview={review} />
          <Suggestions onReview={review} />
          <Command target={targets[0] ?? '127.0.0.1'} />
        </div>
        <MachineAllows />
      </div>
    </div>
  );
}

interface TargetFormProps {
  text: string;
  onText: (text: string) => void;
  onReview: (text: string) => void;
}

function TargetForm({ text, onText, onReview }: TargetFormProps) {
  const targets = targetsIn(text);
  const lack = useLack('scan:write', 'scan:execute');
  const { plan, error, isChecking } = usePlan(targets.length === 0 || lack !== null ? null : { targets });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (targets.length > 0 && lack === null) onReview(text);
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-2.5 tablet:flex-row tablet:items-start">
      <div className="min-w-0 grow">
        <Field
          label="Targets"
          error={error && (fieldProblem(error, 'targets') ?? error.message)}
          hint={
            plan ? (
              <Named plan={plan} />
            ) : isChecking ? (
              'Checking…'
            ) : (
              'Addresses, CIDR, ranges or names, separated by commas'
            )
          }
        >
          <TextInput
            value={text}
            onChange={onText}
            mono
            ref={takeFocus}
            placeholder="192.168.20.0/24"
            className="min-h-10"
          />
        </Field>
      </div>
      <Button
        type="submit"
        variant="primary"
        className="min-h-10 tablet:mt-6"
        disabledReason={lack ?? (targets.length === 0 && 'Name a target first')}
      >
        Review plan
        <Icon name="arrow" />
      </Button>
    </form>
  );
}

function Named({ plan }: { plan: NonNullable<ReturnType<typeof usePlan>['plan']> }) {
  const { addresses, hostnames, excluded } = plan;
  const left = excluded > 0 ? `, ${count(excluded)} out of scope` : ', in scope';
  return (
    <span className="inline-flex items-center gap-1.5 text-state-completed">
      <Icon name="check" size={14} />
      {plural(addresses + hostnames, 'address', 'addresses')} to scan{left}
    </span>
  );
}

function Suggestions({ onReview }: { onReview: (text: string) => void }) {
  const { data: health } = useGet('/api/v1/health', {});
  const go = useGo();
  const networks = health?.scanning.networks ?? [];
  const [nearest] = networks;
  return (
    <Section title="Or take one of these">
      <ul>
        <Suggestion
          icon="desktop"
          name="This machine"
          targets="127.0.0.1"
          note="1 address"
          onChoose={() => onReview('127.0.0.1')}
        />
        {networks.map(({ interface: name, network }) => (
          <Suggestion
            key={network}
            icon="host"
            name="Attached network"
            targets={network}
            note={`${plural(hostsIn(network), 'address', 'addresses')}, ${name}`}
            onChoose={() => onReview(network)}
          />
        ))}
        {nearest !== undefined && (
          <Suggestion
            icon="calendar"
            name="Attached network, every night"
            targets={nearest.network}
            note="creates a job"
            onChoose={() => {
              clearDraft();
              changeDraft({ targets: nearest.network });
              go('/jobs/new');
            }}
          />
        )}
      </ul>
    </Section>
  );
}

/** Addresses between the network's own and that of its broadcast. */
function hostsIn(network: string): number {
  return 2 ** (32 - Number(network.split('/')[1])) - 2;
}

interface SuggestionProps {
  icon: IconName;
  name: string;
  targets: string;
  note: string;
  onChoose: () => void;
}

function Suggestion({ icon, name, targets, note, onChoose }: SuggestionProps) {
  return (
    <li className="border-line-subtle border-b">
      <button
        type="button"
        className="-mx-2 flex min-h-10 w-[calc(100%+16px)] flex-wrap items-center gap-x-3 rounded-m px-2 py-1.5 text-left hover:bg-surface-2 tablet:grid tablet:grid-cols-[16px_190px_minmax(0,1fr)_auto_16px]"
        onClick={onChoose}
      >
        <Icon name={icon} className="text-text-3" />
        <span className="font-medium">{name}</span>
        <span className="mono">{targets}</span>
        <span className="text-text-2">{note}</span>
        <Icon name="right" className="text-text-3 max-tablet:hidden" />
      </button>
    </li>
  );
}

function Command({ target }: { target: string }) {
  const command = `portolan scan ${target} --vuln`;
  return (
    <p className="flex flex-wrap items-center gap-x-2 text-text-2">
      On a command line: <code className="mono [overflow-wrap:anywhere]">{command}</code>
      <CopyButton text={command} label="Copy the command" />
    </p>
  );
}
