import './compare.css'
import { VisibleParts } from '../components/visible-text.tsx'
import { diffTexts, type Part } from './words.ts'

const TAGS = { same: 'span', removed: 'del', added: 'ins' } as const

type Props = { before: string; after: string; of?: Part['kind'] }

/** The words of two texts, with those that only one of them has. @param props.of without those of the other one */
export function WordDiff({ before, after, of }: Props) {
  const parts = diffTexts(before, after).filter(({ kind }) => !of || kind === 'same' || kind === of)
  return (
    <bdi class="mono word-diff">
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
