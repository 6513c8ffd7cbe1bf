import { Field } from '../../components/controls/field.tsx';
import { TextArea } from '../../components/controls/text-area.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { count } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { submissionOf, targetsIn, useDraft } from './draft.ts';
import { StepFoot } from './step-foot.tsx';
import { usePlan } from './use-plan.ts';

/** What is scanned and what is left out, checked while typing. */
export default function TargetsStep() {
  const [draft, change] = useDraft();
  const targets = targetsIn(draft.targets);
  const { plan, error, isChecking } = usePlan(targets.length === 0 ? null : submissionOf(draft));
  return (
    <>
      <div className="flex max-w-[680px] flex-col gap-5">
        <Field
          label="Targets"
          hint="Addresses, CIDR, ranges or names, separated by commas or lines. Scan only what you are allowed to."
          error={targetProblem(error, 'targets')}
        >
          <TextArea
            value={draft.targets}
            onChange={(text) => change({ targets: text })}
            mono
            rows={6}
            autoFocus
          />
        </Field>
        <p role="status" className="text-text-2">
          {targets.length === 0
            ? 'No target yet.'
            : plan
              ? `${plural(plan.addresses, 'address', 'addresses')}${plan.hostnames > 0 ? ` and ${plural(plan.hostnames, 'name')}` : ''} to scan, ${count(plan.excluded)} excluded or out of scope.`
              : isChecking
                ? 'Checking…'
                : ''}
        </p>
        <Field
          label="Exclude"
          optional
          hint="These are never touched."
          error={targetProblem(error, 'exclude')}
        >
          <TextArea value={draft.exclude} onChange={(text) => change({ exclude: text })} mono rows={2} />
        </Field>
        <Field label="Name" optional error={error?.reasonOf('name')}>
          <TextInput value={draft.name} onChange={(name) => change({ name })} placeholder="Berlin office" />
        </Field>
        <Field label="Tags" optional hint="Separated by blanks." error={targetProblem(error, 'tags')}>
          <TextInput value={draft.tags} onChange={(tags) => change({ tags })} />
        </Field>
      </div>
      <StepFoot at={0} />
    </>
  );
}

/** Problems of list members come as `targets[2]`. */
function targetProblem(
  error: { fields: readonly { field: string; reason: string }[] } | null,
  field: string,
) {
  const problems = error?.fields.filter(
    (each) =>
      each.field === field || each.field.startsWith(`${field}[`) || each.field.startsWith(`${field}.`),
  );
  return problems === undefined || problems.length === 0
    ? null
    : problems.map(({ reason }) => reason).join('; ');
}
