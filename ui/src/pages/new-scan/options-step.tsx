import { Button } from '../../components/controls/button.tsx';
import { Field } from '../../components/controls/field.tsx';
import { Segmented } from '../../components/controls/segmented.tsx';
import { Select } from '../../components/controls/select.tsx';
import { Switch } from '../../components/controls/switch.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { count } from '../../format/numbers.ts';
import { type Draft, furtherText, submissionOf, targetsIn, useDraft } from './draft.ts';
import { fieldProblem } from './field-problem.ts';
import { StepFoot } from './step-foot.tsx';
import { type Plan, usePlan } from './use-plan.ts';

const scanTypes = [
  { value: 'auto', label: 'Automatic' },
  { value: 'syn', label: 'SYN' },
  { value: 'connect', label: 'Connect' },
  { value: 'udp', label: 'UDP' },
] as const;

const severities = [
  { value: '', label: 'All findings' },
  { value: 'critical', label: 'Critical' },
  { value: 'high', label: 'High and above' },
  { value: 'medium', label: 'Medium and above' },
  { value: 'low', label: 'Low and above' },
] as const;

/** What differs from the profile. Everything may stay as it is. */
export default function OptionsStep() {
  const [draft, change] = useDraft();
  const { plan, error } = usePlan(targetsIn(draft.targets).length === 0 ? null : submissionOf(draft));
  return (
    <>
      <div className="flex max-w-[680px] flex-col gap-5">
        <Field label="Ports" optional hint={portsHint(plan)} error={error && fieldProblem(error, 'ports')}>
          <TextInput value={draft.ports} onChange={(ports) => change({ ports })} mono />
        </Field>
        <Field
          label="Packets per second"
          optional
          hint={rateHint(plan)}
          error={error && fieldProblem(error, 'rate')}
        >
          <TextInput
            value={draft.rate}
            onChange={(rate) =>
              change({ rate: /^a(?:u(?:to?)?)?$/.test(rate) ? rate : rate.replace(/\D/g, '') })
            }
            mono
          />
        </Field>
        <Field
          label="Scan type"
          hint="Automatic: SYN where raw packets are allowed, else full connections."
          error={error && fieldProblem(error, 'options.scan_type')}
        >
          <Segmented
            options={scanTypes}
            value={draft.scanType}
            onChange={(scanType) => change({ scanType })}
          />
        </Field>
        <Field
          label="Time limit"
          optional
          hint="For example 1h30m. The scan ends by then, with what it has found. Empty: none."
          error={error && fieldProblem(error, 'options.max_duration')}
        >
          <TextInput value={draft.maxDuration} onChange={(maxDuration) => change({ maxDuration })} mono />
        </Field>
        <Field label="Findings from" hint="Less severe findings are not recorded.">
          <Select
            options={severities}
            value={draft.minSeverity === 'info' ? '' : draft.minSeverity}
            onChange={(minSeverity) => change({ minSeverity })}
          />
        </Field>
        <Switch
          checked={!draft.discover}
          onChange={(all) => change({ discover: !all })}
          label="Treat every target as up"
          hint="Tries ports also where no host responds. Slower; finds hosts that block probes."
        />
        <Switch
          checked={draft.intrusive}
          onChange={(intrusive) => change({ intrusive })}
          label="Intrusive checks"
          hint="Checks that can disrupt a service. Only with the owner's consent."
        />
        <Further draft={draft} change={change} />
      </div>
      <StepFoot at={2} canSkip={plan !== undefined} />
    </>
  );
}

/** With what is planned now: known once targets are named. */
function portsHint(plan: Plan | undefined): string {
  const now = plan ? ` Now ${count(plan.ports.tcp)} TCP, ${count(plan.ports.udp)} UDP.` : '';
  return `For example 22,80,8000-8100 or top-100. Empty: those of the profile.${now}`;
}

function rateHint(plan: Plan | undefined): string {
  const now = plan && (plan.rate === 'auto' ? 'auto' : count(plan.rate));
  return `A number, or auto: as fast as responses keep coming. Empty: the configured rate${now ? `. Now ${now}` : ''}.`;
}

interface FurtherProps {
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
}

/** What the scan that is repeated had beside the fields: nothing is sent that is not shown. */
function Further({ draft, change }: FurtherProps) {
  const parts = furtherText(draft);
  if (parts.length === 0) return null;
  return (
    <p className="flex flex-wrap items-center gap-2 text-text-2">
      <span>
        As in the scan before: <TargetText text={parts.join(', ')} wrap />
      </span>
      <Button onClick={() => change({ dag: '', pool: '', further: {} })}>Leave out</Button>
    </p>
  );
}
