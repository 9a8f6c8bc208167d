import './markdown.css'
import { useMemo } from 'preact/hooks'
import { formatCount } from './format.ts'
import { TextPortions } from './json-view.tsx'
import { type Block, type Inline, parseMarkdown } from './markdown-blocks.ts'
import { VisibleParts } from './visible-text.tsx'

/** Characters that are laid out. */
const MAX_CHARACTERS = 50_000

/** A text as the Markdown that it is. Only elements of this file are made: HTML in it is text, links are `https:`. */
export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => parseMarkdown(text.slice(0, MAX_CHARACTERS)), [text])
  return (
    <div class="markdown">
      <Blocks blocks={blocks} />
      {text.length > MAX_CHARACTERS && (
        <>
          <p class="muted">{formatCount(text.length - MAX_CHARACTERS)} more characters, as text:</p>
          <div class="long-text">
            <TextPortions text={text.slice(MAX_CHARACTERS)} />
          </div>
        </>
      )}
    </div>
  )
}

const Blocks = ({ blocks }: { blocks: Block[] }) => (
  <>
    {blocks.map((block, index) => (
      <OneBlock key={index} block={block} />
    ))}
  </>
)

function OneBlock({ block }: { block: Block }) {
  switch (block.kind) {
    case 'heading':
    case 'paragraph':
      // A heading is none of the page: those are its structure.
      return (
        <p
          class={
            block.kind === 'heading'
              ? `markdown-heading markdown-heading-${Math.min(block.level, 3)}`
              : undefined
          }
          dir="auto"
        >
          <Inlines inlines={block.inlines} />
        </p>
      )
    case 'code':
      return (
        <pre>
          <VisibleParts text={block.text} />
        </pre>
      )
    case 'quote':
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      )
    case 'list': {
      const items = block.items.map((blocks, index) => (
        <li key={index} dir="auto">
          <Item blocks={blocks} />
        </li>
      ))
      return block.isOrdered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>
    }
    case 'table':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards can only scroll what has the focus.
        <section class="table-scroll panel" tabIndex={0} aria-label="Table">
          <table>
            <thead>
              <tr>{cellsOf(block.head, 'th')}</tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>{cellsOf(row, 'td')}</tr>
              ))}
            </tbody>
          </table>
        </section>
      )
    case 'rule':
      return <hr />
  }
}

const cellsOf = (cells: Inline[][], Cell: 'th' | 'td') =>
  cells.map((inlines, index) => (
    <Cell key={index} scope={Cell === 'th' ? 'col' : undefined} dir="auto">
      <Inlines inlines={inlines} />
    </Cell>
  ))

/** An item of one paragraph has no distance to the next one. */
const Item = ({ blocks }: { blocks: Block[] }) => {
  const [first, ...others] = blocks
  if (first?.kind !== 'paragraph') return <Blocks blocks={blocks} />
  return (
    <>
      <Inlines inlines={first.inlines} />
      <Blocks blocks={others} />
    </>
  )
}

const Inlines = ({ inlines }: { inlines: Inline[] }) => (
  <>
    {inlines.map((inline, index) => (
      <OneInline key={index} inline={inline} />
    ))}
  </>
)

function OneInline({ inline }: { inline: Inline }) {
  if (typeof inline === 'string') return <VisibleParts text={inline} />
  if (inline.kind === 'code')
    return (
      <code>
        <VisibleParts text={inline.text} />
      </code>
    )
  const content = <Inlines inlines={inline.inlines} />
  if (inline.kind !== 'link')
    return inline.kind === 'strong' ? <strong>{content}</strong> : <em>{content}</em>
  return (
    <a href={inline.href} title={inline.href} target="_blank" rel="noreferrer">
      {content}
    </a>
  )
}
