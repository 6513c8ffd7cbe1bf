import type { ApiError } from '../../api/api-error.ts';
import { useGet } from '../../api/use-get.ts';
import { Field } from '../../components/controls/field.tsx';
import { Select } from '../../components/controls/select.tsx';
import { Switch } from '../../components/controls/switch.tsx';
import { takeFocus } from '../../components/controls/take-focus.ts';
import { TextArea } from '../../components/controls/text-area.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { count } from '../../format/numbers.ts';
import { visibleText } from '../../format/target-text.ts';
import { plural } from '../../format/words.ts';
import { useCan } from '../../session/session.ts';
import { submissionOf, targetsIn, useDraft } from '../new-scan/draft.ts';
import { type Plan, usePlan } from '../new-scan/use-plan.ts';

interface ScanFieldsProps {
  /** The server's reason at a field of the scan; null when it has none. */
  refusalOf: (field: string) => string | null;
}

/** What each run scans, checked while it is typed. It is the draft of "New scan". */
export function ScanFields({ refusalOf }: ScanFieldsProps) {
  const [draft, change] = useDraft();
  const mayRead = useCan('scan:read');
  const mayPlan = useCan('scan:write', 'scan:execute');
  const isEmpty = targetsIn(draft.targets).length === 0;
  const { plan, error, isChecking } = usePlan(isEmpty || !mayPlan ? null : submissionOf(draft));
  const { data } = useGet('/api/v1/profiles', {}, { enabled: mayRead });
  const problem = (field: string) =>
    ((field === 'targets' && targetReasons(error)) ||
      error?.fields.find((each) => each.field.split(/[.[]/)[0] === field)?.reason) ??
    refusalOf(field);
  const usual = data?.profiles.find(({ default: isDefault }) => isDefault)?.name;
  const profiles = [
    { value: '', label: usual === undefined ? 'Default of the server' : `${usual} (default)` },
    ...(data?.profiles ?? [])
      .filter(({ default: isDefault }) => !isDefault)
      .map(({ name, description }) => ({
        value: name,
        label: name,
        hint: description,
      })),
  ];
  return (
    <>
      <Field
        label="Targets"
        hint="Addresses, CIDR, ranges or names, separated by commas or lines. Scan only what you are allowed to."
        error={problem('targets')}
      >
        <TextArea
          value={draft.targets}
          onChange={(targets) => change({ targets })}
          mono
          rows={3}
          ref={takeFocus}
        />
      </Field>
      <p role="status" className="-mt-3 text-size-12 text-text-2 empty:hidden">
        {isEmpty ? '' : plan ? planText(plan) : isChecking ? 'Checking…' : ''}
      </p>
      <Field
        label="Exclude"
        optional
        hint="Targets to exclude: nothing is sent to them."
        error={problem('exclude')}
      >
        <TextInput value={draft.exclude} onChange={(exclude) => change({ exclude })} mono />
      </Field>
      <Field
        label="Name"
        optional
        hint="Runs of one name are compared with each other."
        error={problem('name')}
      >
        <TextInput value={draft.name} onChange={(name) => change({ name })} placeholder="DMZ nightly" />
      </Field>
      <div className="grid gap-5 tablet:grid-cols-2">
        <Field label="Profile" error={problem('profile')}>
          <Select
            value={draft.profile === usual ? '' : draft.profile}
            options={profiles}
            onChange={(profile) => change({ profile })}
          />
        </Field>
        <Field label="Ports" optional hint="Empty: those of the profile." error={problem('ports')}>
          <TextInput
            value={draft.ports}
            onChange={(ports) => change({ ports })}
            mono
            placeholder="22,80,443"
          />
        </Field>
      </div>
      <Switch
        checked={draft.vuln}
        onChange={(vuln) => change({ vuln })}
        label="Evaluate vulnerabilities"
        hint="Compares products and versions with the vulnerability data, and checks configurations."
      />
    </>
  );
}

function planText({ addresses, hostnames, excluded }: Plan): string {
  const names = hostnames > 0 ? ` and ${plural(hostnames, 'name')}` : '';
  return `${plural(addresses, 'address', 'addresses')}${names} in each run, ${count(excluded)} excluded or out of scope.`;
}

/** Refused targets that are named; the message says how many there are. */
const namedTargets = 5;

/** Which targets were refused, each with its reason; empty where the response names none. */
function targetReasons(error: ApiError | null): string {
  const refused = error?.details['targets'];
  if (!Array.isArray(refused)) return '';
  return refused
    .slice(0, namedTargets)
    .map(({ value, reason }: { value?: unknown; reason?: unknown }) =>
      visibleText(`${String(value).slice(0, 100)}: ${String(reason)}`),
    )
    .join('; ');
}
