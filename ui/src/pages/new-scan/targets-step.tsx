import { Field } from '../../components/controls/field.tsx';
import { takeFocus } from '../../components/controls/take-focus.ts';
import { TextArea } from '../../components/controls/text-area.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { count } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { submissionOf, targetsIn, useDraft } from './draft.ts';
import { fieldProblem } from './field-problem.ts';
import { OtherProblem } from './other-problem.tsx';
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
          error={error && fieldProblem(error, 'targets')}
        >
          <TextArea
            value={draft.targets}
            onChange={(text) => change({ targets: text })}
            mono
            rows={6}
            placeholder={'192.0.2.0/24\nwww.example.net'}
            ref={takeFocus}
          />
        </Field>
        <p role="status" className="-mt-3 text-size-12 text-text-2 empty:hidden">
          {targets.length === 0
            ? ''
            : plan
              ? `${plural(plan.addresses, 'address', 'addresses')}${plan.hostnames > 0 ? ` and ${plural(plan.hostnames, 'name')}` : ''} to scan, ${count(plan.excluded)} excluded or out of scope.`
              : isChecking
                ? 'Checking…'
                : ''}
        </p>
        <Field
          label="Exclude"
          optional
          hint="Targets to exclude: nothing is sent to them."
          error={error && fieldProblem(error, 'exclude')}
        >
          <TextArea value={draft.exclude} onChange={(text) => change({ exclude: text })} mono rows={2} />
        </Field>
        <Field
          label="Name"
          optional
          hint="Runs of one name are compared with each other."
          error={error && fieldProblem(error, 'name')}
        >
          <TextInput value={draft.name} onChange={(name) => change({ name })} placeholder="Berlin office" />
        </Field>
        <Field label="Tags" optional hint="Separated by blanks." error={error && fieldProblem(error, 'tags')}>
          <TextInput value={draft.tags} onChange={(tags) => change({ tags })} />
        </Field>
        <OtherProblem error={error} />
      </div>
      <StepFoot at={0} canSkip={plan !== undefined} />
    </>
  );
}
