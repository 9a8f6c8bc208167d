/** Whether one of two normalized names is the English plural of the other. */
export const areSingularAndPlural = (a: string, b: string): boolean => isPluralOf(a, b) || isPluralOf(b, a)

function isPluralOf(plural: string, singular: string): boolean {
  if (singular.length < 3) return false
  if (/[^aeiou]y$/.test(singular) && plural === `${singular.slice(0, -1)}ies`) return true
  return plural === singular + (/(?:s|x|z|ch|sh|o)$/.test(singular) ? 'es' : 's')
}
