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
      // No heading of the page: those are its structure.
      return (
        <p class={`markdown-heading markdown-heading-${Math.min(block.level, 3)}`} dir="auto">
          <Inlines inlines={block.inlines} />
        </p>
      )
    case 'paragraph':
      return (
        <p dir="auto">
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
        <section class="table-scroll" tabIndex={0} aria-label="Table">
          <table>
            <thead>
              <tr>
                {block.head.map((cell, index) => (
                  <th key={index} scope="col" dir="auto">
                    <Inlines inlines={cell} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>
                  {row.map((cell, column) => (
                    <td key={column} dir="auto">
                      <Inlines inlines={cell} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )
    case 'rule':
      return <hr />
  }
}

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
  switch (inline.kind) {
    case 'code':
      return (
        <code>
          <VisibleParts text={inline.text} />
        </code>
      )
    case 'strong':
      return (
        <strong>
          <Inlines inlines={inline.inlines} />
        </strong>
      )
    case 'em':
      return (
        <em>
          <Inlines inlines={inline.inlines} />
        </em>
      )
    case 'link':
      return (
        <a href={inline.href} title={inline.href} target="_blank" rel="noreferrer">
          <Inlines inlines={inline.inlines} />
        </a>
      )
  }
}
