import {
  type AnchorHTMLAttributes,
  type ComponentChildren,
  Fragment,
  type HTMLAttributes,
  h,
  type JSX,
  type VNode,
} from 'preact'
import { mayHide, splitHidden } from './hidden-characters.ts'

export { toVisible } from './hidden-characters.ts'

/** A text of somebody else: its direction does not change what is around it, and hidden characters are shown. */
export const VisibleText = ({ text, class: className }: { text: string; class?: string | undefined }) => (
  <bdi class={className}>
    <VisibleParts text={text} />
  </bdi>
)

/** A link whose text may be that of somebody else. */
export const TextLink = ({ text, ...link }: AnchorHTMLAttributes<HTMLAnchorElement> & { text: string }) => (
  <a {...link}>
    <VisibleText text={text} />
  </a>
)

type TextProps = HTMLAttributes<HTMLElement> & {
  /** By default, a paragraph. */
  as?: keyof JSX.IntrinsicElements
  text: string | null | undefined
}

/** An element with such a text, and nothing else; nothing without one. */
export const Text = ({ as: Tag = 'p', text, ...attributes }: TextProps) =>
  text ? h(Tag, attributes, <VisibleText text={text} />) : null

/** A sentence with names, values and elements: say`${url} fails since ${<Time value={since} />}`. */
export const say = (texts: TemplateStringsArray, ...parts: ComponentChildren[]): VNode =>
  h(Fragment, null, ...texts.flatMap((text, at) => [text, toPart(parts[at])]))

const toPart = (part: ComponentChildren) => (typeof part === 'string' ? <VisibleText text={part} /> : part)

/** A text of somebody else, within an element that isolates its direction. */
export const VisibleParts = ({ text }: { text: string }) => (
  <>
    {mayHide(text)
      ? splitHidden(text).map((part, index) =>
          typeof part === 'string' ? (
            part
          ) : (
            <span key={index} class="hidden-character" title={part.name}>
              {part.label}
            </span>
          ),
        )
      : text}
  </>
)

type ListProps = { texts: string[]; max?: number; class?: string }

/** Texts below each other, of which nothing remains if there are none. */
export const TextList = ({ texts, max = texts.length, ...attributes }: ListProps) =>
  texts.length > 0 && (
    <ul {...attributes}>
      {texts.slice(0, max).map((text, index) => (
        <Text as="li" key={`${index} ${text}`} text={text} />
      ))}
      {texts.length > max && <li class="muted">and {texts.length - max} more</li>}
    </ul>
  )
