interface Setting {
  key: string;
  value?: unknown;
  origin: string;
  description: string;
}

/** Settings that have the text in name, value or description. */
export function matchingSettings<S extends Setting>(
  settings: readonly S[],
  text: string,
  isChangedOnly: boolean,
): S[] {
  const wanted = text.trim().toLowerCase();
  return settings.filter(
    (setting) =>
      (!isChangedOnly || setting.origin !== 'default') &&
      [setting.key, setting.description, settingText(setting.value)].some((part) =>
        part.toLowerCase().includes(wanted),
      ),
  );
}

/** By the first part of their names, in the order of the settings. */
export function groupsOf<S extends Setting>(settings: readonly S[]): [string, S[]][] {
  const groups = new Map<string, S[]>();
  for (const setting of settings) {
    const name = setting.key.split('.')[0] ?? setting.key;
    groups.set(name, [...(groups.get(name) ?? []), setting]);
  }
  return [...groups];
}

/** A value in one line: texts without quotes, lists with commas, members as `name: value`. */
export function settingText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map((each) => settingText(each)).join(', ') || '[]';
  if (typeof value !== 'object') return String(value);
  const members = Object.entries(value).map(([name, each]) => `${name}: ${settingText(each)}`);
  return members.join(', ') || '{}';
}
