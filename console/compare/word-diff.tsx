import './compare.css'
import { VisibleParts } from '../components/visible-text.tsx'
import { diffTexts, type Part } from './words.ts'

const TAGS = { same: 'span', removed: 'del', added: 'ins' } as const

type Props = { before: string; after: string; of?: Part['kind'] }

/** The words of two texts, with those that only one of them has. @param props.of without those of the other one */
export const WordDiff = ({ before, after, of }: Props) => (
  <bdi class="mono word-diff">
    {diffTexts(before, after)
      .filter(({ kind }) => of === undefined || kind === 'same' || kind === of)
      .map(({ kind, text }, index) => {
        const Tag = TAGS[kind]
        return (
          <Tag key={index}>
            <VisibleParts text={text} />
          </Tag>
        )
      })}
  </bdi>
)
