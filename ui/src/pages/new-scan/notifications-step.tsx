import { Field } from '../../components/controls/field.tsx';
import { TextArea } from '../../components/controls/text-area.tsx';
import { submissionOf, targetsIn, useDraft } from './draft.ts';
import { fieldProblem } from './field-problem.ts';
import { StepFoot } from './step-foot.tsx';
import { usePlan } from './use-plan.ts';

/** Who is notified when the scan has ended. */
export default function NotificationsStep() {
  const [draft, change] = useDraft();
  const { error } = usePlan(targetsIn(draft.targets).length === 0 ? null : submissionOf(draft));
  return (
    <>
      <div className="flex max-w-[680px] flex-col gap-5">
        <Field
          label="Channels"
          optional
          hint="As type://name, for example slack://security-alerts. Empty: the configured default channels."
          error={error && fieldProblem(error, 'notifications')}
        >
          <TextArea
            value={draft.notifications}
            onChange={(notifications) => change({ notifications })}
            mono
            rows={3}
          />
        </Field>
      </div>
      <StepFoot at={3} />
    </>
  );
}
