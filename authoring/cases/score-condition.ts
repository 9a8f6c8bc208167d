/** What a score has to be: an operator and a number from 0 to 1, such as `>= 0.8`. */
const PATTERN = /^([<>])(=?) ?(0(?:\.\d+)?|1(?:\.0+)?)$/

/** What is wrong with a text that is no condition. */
export const CONDITION = 'must be >=, >, <= or < and a number from 0 to 1 in quotes, such as ">= 0.8"'

export const isCondition = (text: string): boolean => PATTERN.test(text)

export function isMet(condition: string, score: number): boolean {
  const [, operator, equal, bound] = PATTERN.exec(condition) ?? []
  if (score === Number(bound)) return equal === '='
  return operator === '>' ? score > Number(bound) : score < Number(bound)
}
