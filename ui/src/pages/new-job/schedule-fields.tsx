import { Field } from '../../components/controls/field.tsx';
import { Segmented } from '../../components/controls/segmented.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { NextDay } from '../jobs/next-day.tsx';
import { type SchedulePreview, useSchedule } from '../jobs/use-schedule.ts';
import { useRested } from '../new-scan/use-plan.ts';
import {
  atTime,
  type Choice,
  choices,
  chosen,
  incompleteReason,
  type ScheduleDraft,
  timeOf,
  typed,
} from './schedule-choice.ts';

interface ScheduleFieldsProps {
  value: ScheduleDraft;
  onChange: (value: ScheduleDraft) => void;
  /** The server's words after the job was refused. */
  refusal: string | null;
}

/** When it runs: a choice or a cron text, with the next five runs while it is typed. */
export function ScheduleFields({ value, onChange, refusal }: ScheduleFieldsProps) {
  const { text, choice } = value;
  const incomplete = choice === '' ? null : incompleteReason(text);
  const rested = useRested(text);
  const { preview, error, isFormer } = useSchedule(choice === '' || incomplete !== null ? null : rested);
  const isCurrent = rested === text;
  const time = timeOf(text);
  return (
    <>
      <Field label="When">
        <Segmented<Choice>
          options={choices}
          value={choice}
          onChange={(next) => onChange(chosen(next, value))}
        />
      </Field>
      {choice === '' ? (
        <p className="text-text-2">One run, as soon as a worker is free.</p>
      ) : (
        <>
          {time !== null && (
            <Field label="At">
              <TextInput
                type="time"
                value={time}
                onChange={(next) => onChange(atTime(value, next))}
                className="max-w-36"
              />
            </Field>
          )}
          <Field
            label="Schedule"
            hint={incomplete ?? 'Minute, hour, day of month, month, day of week; also @hourly to @yearly.'}
            error={isCurrent && incomplete === null ? (error?.reasonOf('schedule') ?? refusal) : null}
          >
            <TextInput
              value={text}
              onChange={(next) => onChange(typed(next))}
              mono
              maxLength={1000}
              className="max-w-72"
            />
          </Field>
          {preview && incomplete === null && <Preview preview={preview} isFormer={isFormer || !isCurrent} />}
        </>
      )}
    </>
  );
}

const shown = 5;

function Preview({ preview, isFormer }: { preview: SchedulePreview; isFormer: boolean }) {
  return (
    <div className={`flex flex-col gap-2 ${isFormer ? 'opacity-60' : ''}`}>
      <p role="status">
        Runs <strong className="font-semibold">{preview.in_words}</strong>{' '}
        <span className="text-text-2">in {preview.zone}, the zone of this server.</span>
      </p>
      <div>
        <NextDay runs={preview.next} isRunning={false} />
        <p aria-hidden className="flex justify-between text-size-11 text-text-3">
          <span>now</span>
          <span>in 12 h</span>
          <span>in 24 h</span>
        </p>
      </div>
      <ol aria-label="Next runs">
        {preview.next.slice(0, shown).map((at) => (
          <li key={at} className="flex h-7 items-center justify-between gap-3 border-line-subtle border-b">
            <TimeText at={at} />
            <span className="text-text-2">
              <TimeText at={at} relative />
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
