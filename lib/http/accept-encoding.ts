/** A content coding with its weight, of an `Accept-Encoding` header. */
type Preference = { coding: string; weight: number }

/**
 * The content coding to respond with: of the available ones, the one that the client prefers, and the first of several
 * with the same weight; undefined if it accepts none, or does not say so (RFC 9110, section 12.5.3).
 */
export function chooseEncoding<Coding extends string>(
  header: string | undefined,
  available: readonly Coding[],
): Coding | undefined {
  const preferences = (header ?? '').toLowerCase().split(',').map(parsePreference)
  const weightOf = (name: string) =>
    (preferences.find(({ coding }) => coding === name) ?? preferences.find(({ coding }) => coding === '*'))
      ?.weight
  const identity = preferences.find(({ coding }) => coding === 'identity')?.weight ?? 0
  const weighted = available.map((coding) => ({ coding, weight: weightOf(coding) ?? 0 }))
  const best = Math.max(...weighted.map(({ weight }) => weight))
  return best > 0 && best >= identity ? weighted.find(({ weight }) => weight === best)?.coding : undefined
}

/** A weight that is not valid counts as 0. */
function parsePreference(text: string): Preference {
  const [coding = '', ...parameters] = text.split(';').map((part) => part.trim())
  const weight = parameters
    .map((parameter) => /^q\s*=\s*(.*)$/.exec(parameter)?.[1])
    .find((value) => value !== undefined)
  const isValid = weight === undefined || /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight)
  return { coding: coding === 'x-gzip' ? 'gzip' : coding, weight: isValid ? Number(weight ?? 1) : 0 }
}
