import { useGet } from '../../api/use-get.ts';
import { Switch } from '../../components/controls/switch.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { useDraft } from './draft.ts';
import { StepFoot } from './step-foot.tsx';

/** How deep a scan looks. */
export default function ProfileStep() {
  const [draft, change] = useDraft();
  const got = useGet('/api/v1/profiles', {});
  return (
    <>
      <div className="flex max-w-[680px] flex-col gap-5">
        <Boundary got={got} rows={5}>
          {({ profiles }) => (
            <fieldset className="flex flex-col">
              <legend className="pb-2 font-medium">Profile</legend>
              {fromQuickToDeep(profiles).map(({ name, description, default: isDefault }) => (
                <Choice
                  key={name}
                  name={name}
                  note={isDefault ? 'default' : undefined}
                  description={description}
                  isChosen={draft.profile === name || (isDefault && draft.profile === '')}
                  onChoose={() => change({ profile: isDefault ? '' : name })}
                />
              ))}
            </fieldset>
          )}
        </Boundary>
        <Switch
          checked={draft.vuln}
          onChange={(vuln) => change({ vuln })}
          label="Evaluate vulnerabilities"
          hint="Compares products and versions with the vulnerability data, and checks configurations."
        />
      </div>
      <StepFoot at={1} canSkip={draft.targets !== ''} />
    </>
  );
}

/** The usual ones by what they cost, then the others by name. */
const order = ['quick', 'standard', 'deep'];

function fromQuickToDeep<P extends { name: string }>(profiles: readonly P[]): P[] {
  const place = ({ name }: P) => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...profiles].sort((one, other) => place(one) - place(other));
}

interface ChoiceProps {
  name: string;
  note: string | undefined;
  description: string;
  isChosen: boolean;
  onChoose: () => void;
}

function Choice({ name, note, description, isChosen, onChoose }: ChoiceProps) {
  return (
    <label
      className={`flex min-h-11 cursor-pointer items-start gap-3 border-line-subtle border-b px-2 py-2 hover:bg-surface-2 ${isChosen ? 'bg-accent-soft' : ''}`}
    >
      <input
        type="radio"
        name="profile"
        className="mt-1 accent-accent"
        checked={isChosen}
        onChange={onChoose}
      />
      <span className="flex min-w-0 flex-col gap-x-3 tablet:flex-row">
        <span className="w-40 shrink-0 font-medium">
          {name} {note !== undefined && <span className="text-size-12 text-text-3">{note}</span>}
        </span>{' '}
        <span className="text-text-2">{description}</span>
      </span>
    </label>
  );
}
