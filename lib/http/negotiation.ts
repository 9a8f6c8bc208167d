/** One value of an `Accept` or `Accept-Encoding` header, in lower case, with its weight. */
type Preference = { value: string; weight: number }

/**
 * The content coding to respond with: of the available ones, the one that the client prefers, and the first of several
 * with the same weight; undefined if it accepts none, or does not say so (RFC 9110, section 12.5.3).
 */
export function chooseEncoding<Coding extends string>(
  header: string | undefined,
  available: readonly Coding[],
): Coding | undefined {
  const preferences = parsePreferences(header).map(({ value, weight }) => ({
    value: value === 'x-gzip' ? 'gzip' : value,
    weight,
  }))
  const weightOf = (...names: string[]) => findWeight(preferences, names)
  const identity = weightOf('identity') ?? 0
  const weighted = available.map((coding) => ({ coding, weight: weightOf(coding, '*') ?? 0 }))
  const best = Math.max(...weighted.map(({ weight }) => weight))
  return best > 0 && best >= identity ? weighted.find(({ weight }) => weight === best)?.coding : undefined
}

/**
 * The media type to respond with: of the available ones, the one that the client prefers, and the first of several with
 * the same weight. Also the first one if it accepts none of them, which the client can read better than an error
 * (RFC 9110, section 12.5.1). Parameters of media ranges are ignored.
 */
export function chooseMediaType<Type extends string>(
  header: string | undefined,
  available: readonly [Type, ...Type[]],
): Type {
  const preferences = parsePreferences(header)
  const weighted = available.map((type) => {
    // The most specific range counts.
    const ranges = [type, `${type.split('/')[0]}/*`, '*/*']
    return { type, weight: findWeight(preferences, ranges) ?? 0 }
  })
  const best = Math.max(...weighted.map(({ weight }) => weight))
  return weighted.find(({ weight }) => weight === best)?.type ?? available[0]
}

/** The weight of the first of these values that the client names. */
function findWeight(preferences: Preference[], values: string[]): number | undefined {
  for (const name of values) {
    const found = preferences.find(({ value }) => value === name)
    if (found) return found.weight
  }
  return undefined
}

const parsePreferences = (header = ''): Preference[] => header.toLowerCase().split(',').map(parsePreference)

/** A weight that is not valid counts as 0. */
function parsePreference(text: string): Preference {
  const [value = '', ...parameters] = text.split(';').map((part) => part.trim())
  const weight = parameters
    .map((parameter) => /^q\s*=\s*(.*)$/.exec(parameter)?.[1])
    .find((value) => value !== undefined)
  const isValid = weight === undefined || /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight)
  return { value, weight: isValid ? Number(weight ?? 1) : 0 }
}
