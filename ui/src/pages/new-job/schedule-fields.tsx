import { serverNow } from '../../api/server-clock.ts';
import { Field } from '../../components/controls/field.tsx';
import { Segmented } from '../../components/controls/segmented.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { localZone } from '../../components/text/time-zone.ts';
import { NextDay } from '../jobs/next-day.tsx';
import { NextRunList } from '../jobs/next-run-list.tsx';
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
import { shiftTime } from './zone-shift.ts';

interface ScheduleFieldsProps {
  value: ScheduleDraft;
  onChange: (value: ScheduleDraft) => void;
  /** The server's words after the job was refused. */
  refusal: string | null;
  /** A recurring job stays one: no single run is offered. */
  recurs?: boolean;
}

/** When it runs: a choice or a cron text, with the next five runs while it is typed. */
export function ScheduleFields({ value, onChange, refusal, recurs = false }: ScheduleFieldsProps) {
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
          options={recurs ? choices.filter((each) => each.value !== '') : choices}
          value={choice}
          onChange={(next) => onChange(chosen(next, value))}
        />
      </Field>
      {choice === '' ? (
        <p className="text-text-2">One run, as soon as a worker is free.</p>
      ) : (
        <>
          {time !== null && (
            <AtFields
              time={time}
              server={preview?.zone}
              next={preview?.next[0]}
              onChange={(at) => onChange(atTime(value, at))}
            />
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

/** Half a year away summer time is over, or has begun. */
const halfYearMs = 182 * 86_400_000;

interface AtFieldsProps {
  /** Of the schedule, in the zone of the server. */
  time: string;
  /** Zone of the server; undefined before it is known. */
  server: string | undefined;
  next: string | undefined;
  onChange: (time: string) => void;
}

/** The time of the day; where the reader's clock differs from the server's, by either of them. */
function AtFields({ time, server, next, onChange }: AtFieldsProps) {
  const own = localZone();
  const field = (label: string, shown: string, change: (time: string) => void) => (
    <Field label={label}>
      <TextInput type="time" value={shown} onChange={change} className="max-w-36" />
    </Field>
  );
  const at = next === undefined ? serverNow() : Date.parse(next);
  const here = server === undefined ? null : shiftTime(time, { from: server, to: own, at });
  const later = server === undefined ? null : shiftTime(time, { from: server, to: own, at: at + halfYearMs });
  if (server === undefined || here === null || (here.time === time && later?.time === time))
    return field('At', time, onChange);
  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex flex-wrap gap-x-5 gap-y-3">
        {field(`At, your time (${own})`, here.time, (entered) =>
          onChange(shiftTime(entered, { from: own, to: server, at }).time),
        )}
        {field(`At, server time (${server})`, time, onChange)}
      </div>
      <p className="text-size-12 text-text-3">
        {here.days !== 0 && `In ${server} that is the day ${here.days > 0 ? 'before' : 'after'}. `}
        {later !== null && later.time !== here.time
          ? `The schedule follows ${server}: after the next clock change it runs at ${later.time} your time.`
          : `The schedule follows ${server}.`}
      </p>
    </div>
  );
}

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
      <NextRunList runs={preview.next} server={preview.zone} />
    </div>
  );
}
