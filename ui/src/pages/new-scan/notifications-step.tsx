import { ChannelsField } from '../../components/channels/channels-field.tsx';
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
        <ChannelsField
          value={draft.notifications}
          onChange={(notifications) => change({ notifications })}
          error={error && fieldProblem(error, 'notifications')}
        />
      </div>
      <StepFoot at={3} />
    </>
  );
}
