/** Words that mean the same in a name: abbreviations, and British spellings. */
const SAME_WORDS = new Map([
  ['addr', 'address'],
  ['amt', 'amount'],
  ['cust', 'customer'],
  ['desc', 'description'],
  ['lang', 'language'],
  ['msg', 'message'],
  ['num', 'number'],
  ['qty', 'quantity'],
  ['repo', 'repository'],
  ['authorisation', 'authorization'],
  ['behaviour', 'behavior'],
  ['cancelled', 'canceled'],
  ['catalogue', 'catalog'],
  ['centre', 'center'],
  ['colour', 'color'],
  ['customisation', 'customization'],
  ['favourite', 'favorite'],
  ['fulfilment', 'fulfillment'],
  ['grey', 'gray'],
  ['licence', 'license'],
  ['localisation', 'localization'],
  ['neighbour', 'neighbor'],
  ['organisation', 'organization'],
  ['organisations', 'organizations'],
])

/** Phrases that are one word, or whose second word adds nothing. */
const PHRASES: [RegExp, string][] = [
  [/\be mail\b/g, 'email'],
  [/\bemail ?address\b/g, 'email'],
  [/\bphone ?number\b/g, 'phone'],
]

const BOOLEAN_PREFIX = 'is '

/** The words of a name without what the tables declare to be equal: `custEmailAddress` is `customer email`. */
export function toCanonicalName(words: readonly string[]): string {
  const phrase = words.map((word) => SAME_WORDS.get(word) ?? word).join(' ')
  return PHRASES.reduce((name, [pattern, replacement]) => name.replace(pattern, replacement), phrase)
}

/** The canonical name without `is`, if it starts so. */
export const withoutBooleanPrefix = (canonical: string): string | undefined =>
  canonical.startsWith(BOOLEAN_PREFIX) ? canonical.slice(BOOLEAN_PREFIX.length) : undefined
