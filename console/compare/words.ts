import { diffWordsWithSpace } from 'diff'

export type Part = { kind: 'same' | 'removed' | 'added'; text: string }

/** Texts with more differences are shown as a whole: finding them takes quadratic time. */
const MAX_EDITS = 400
/** With less in common than this part of the longer text, its words would be noise. */
const MIN_COMMON = 0.2

/** Two texts as one, with the words that only one of them has. */
export function diffTexts(before: string, after: string): Part[] {
  const whole: Part[] = [
    { kind: 'removed', text: before },
    { kind: 'added', text: after },
  ]
  const parts = diffWordsWithSpace(before, after, { maxEditLength: MAX_EDITS })?.map(
    ({ value, added, removed }): Part => ({
      kind: added ? 'added' : removed ? 'removed' : 'same',
      text: value,
    }),
  )
  const common = parts?.reduce((sum, { kind, text }) => sum + (kind === 'same' ? text.trim().length : 0), 0)
  const isAlike = common !== undefined && common >= MIN_COMMON * Math.max(before.length, after.length)
  return parts && isAlike ? parts : whole.filter(({ text }) => text !== '')
}
