import './compare.css'
import { diffWordsWithSpace } from 'diff'
import { VisibleParts } from '../components/visible-text.tsx'

type Part = { kind: 'same' | 'removed' | 'added'; text: string }

/** Texts with more differences are shown as a whole: finding them takes quadratic time. */
const MAX_EDITS = 400
/** With less in common than this part of the longer text, its words would be noise. */
const MIN_COMMON = 0.2

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

const TAGS = { same: 'span', removed: 'del', added: 'ins' } as const

/** The words of two texts, with those that only one of them has. @param props.of without those of the other one */
export function WordDiff({ before, after, of }: { before: string; after: string; of?: Part['kind'] }) {
  const parts = diffTexts(before, after).filter(({ kind }) => !of || kind === 'same' || kind === of)
  return (
    <bdi class="mono long-text word-diff">
      {parts.map(({ kind, text }, index) => {
        // All of it differs: beside the other text, no word has to be marked.
        const Tag = of && parts.length === 1 ? 'span' : TAGS[kind]
        return (
          <Tag key={index}>
            <VisibleParts text={text} />
          </Tag>
        )
      })}
    </bdi>
  )
}
